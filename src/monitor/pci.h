/*
 * Where a device sits on the PCI bus: the one name that NVML, CUDA and the kernel share. Ordinals
 * differ between them (CUDA_VISIBLE_DEVICES, fastest first), so devices are matched by this.
 */
#ifndef GA_MONITOR_PCI_H
#define GA_MONITOR_PCI_H

#include <stdbool.h>
#include <stdint.h>

/* A plain value. */
struct ga_pci {
    uint32_t domain;
    uint8_t bus, device, function;
};

/*
 * Reads domain:bus:device.function in hexadecimal, as cudaDeviceGetPCIBusId() ("0000:3B:00.0") and
 * NVML ("00000000:3B:00.0") write it; domain and function may be left out. False: anything else.
 */
bool ga_pci_read(const char *text, struct ga_pci *out);

#define GA_PCI_TEXT 24
/* The kernel's form, "0000:3b:00.0". */
const char *ga_pci_write(char out[GA_PCI_TEXT], const struct ga_pci *pci);

bool ga_pci_same(const struct ga_pci *a, const struct ga_pci *b);

#endif
