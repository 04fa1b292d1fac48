#!/bin/sh
# refusal.sh PROGRAM: where no GPU can be used, asking for one names the runtime's reason and leaves the
# run as it was; nothing is loaded before somebody asks.
program=$1
devices=$("$program" --batch -e devices 2>&1)
case $devices in
    *"no GPU can be used: "*" (cudaError"*", code "*) ;;
    *"cuda:0: "*) echo "skipped: this machine has a GPU"; exit 77 ;;
    *) echo "devices said: $devices"; exit 1 ;;
esac
before=$("$program" --batch -e "run 3" -e "run 2" -e "print hash" | tail -n 1)
after=$("$program" --plain -e "run 3" -e "set device cuda" -e "run 2" -e "print hash" 2> /dev/null | tail -n 1)
said=$("$program" --batch -e "set device cuda" 2>&1)
status=$?
case $said in
    *"no GPU can be used: "*" (cudaError"*", code "*) ;;
    *) echo "set device cuda said: $said"; exit 1 ;;
esac
if [ "$status" != 2 ]; then
    echo "a refused device ended with status $status, expected 2"
    exit 1
fi
case $("$program" --batch -e "set device auto" -e "run 5" -e devices -e "print hash" 2>&1) in
    *"device auto is cpu: "*"$before"*) ;;
    *) echo "device auto did not stay on the CPU"; exit 1 ;;
esac
said=$("$program" bench gpu 2>&1)
status=$?
case $status,$said in
    2,*"no GPU can be used: "*" (cudaError"*", code "*) ;;
    *) echo "bench gpu ended with status $status and said: $said"; exit 1 ;;
esac
if [ "$before" != "$after" ] || [ -z "$before" ]; then
    echo "after the refusal: $after; expected $before"
    exit 1
fi
