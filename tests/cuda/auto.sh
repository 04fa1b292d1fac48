#!/bin/sh
# auto.sh PROGRAM: `device auto` asks the driver, takes cards where it lists some, and else stays on the CPU
# and says why. Nothing but the driver is opened for that. The environment puts the fakes in place.
program=$1
status=0

# expect NAME DRIVER SAYS
expect() {
    said=$(GA_FAKE_DRIVER="$2" "$program" --batch -e "set device auto" -e "run 3" -e devices -e "print hash" 2>&1)
    case $said in
        *"$3"*"$want"*) ;;
        *) echo "$1: expected \"$3\" and $want in: $said"; status=1 ;;
    esac
}

want=$("$program" --batch -e "run 3" -e "print hash" | tail -n 1)
expect "cards" "" "device auto is cuda: the driver lists it"
expect "no cards" "devices=0" "device auto is cpu: the driver lists no GPU"
expect "no cards, by an error" "init=100" "device auto is cpu: the driver refuses: no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE, code 100)"
expect "a driver too old" "init=803" "(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, code 803)"
expect "an error without a name" "init=35" "device auto is cpu: the driver refuses: no text for it (no text for it, code 35)"

# The module stays closed where the driver has no card; here it would fail for being no library.
said=$(GA_FAKE_DRIVER=devices=0 GA_CUDA_MODULE="$0" "$program" --batch -e "set device auto" -e "run 3" -e "print hash" 2>&1)
case $said in *"$want"*) ;; *) echo "without a card: expected $want in: $said"; status=1 ;; esac
# A driver with a card and a module that does not open: the CPU, and why.
GA_CUDA_MODULE=$0
export GA_CUDA_MODULE
expect "no module" "" "device auto is cpu: the CUDA module cannot be opened: "
exit $status
