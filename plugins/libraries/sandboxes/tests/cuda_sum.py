"""Adds numbers on each GPU through the CUDA driver, without any package; runs in a sandbox as an agent's program."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

COUNT = 1 << 20
PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry multiples(.param .u64 numbers)
{
    .reg .u32 %r<5>;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [numbers];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    mul.lo.u32 %r4, %r4, 3;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""


def main() -> None:
    devices = sorted(path.name for path in Path("/dev").glob("nvidia*"))
    print("devices:", *devices, flush=True)
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        sys.exit(f"no driver: {error}")

    def do(name: str, *words: object) -> None:
        if code := getattr(cuda, name)(*words):
            sys.exit(f"{name}: CUDA error {code}")

    do("cuInit", 0)
    count = ctypes.c_int()
    do("cuDeviceGetCount", ctypes.byref(count))
    for number in range(count.value):
        device, context, name = ctypes.c_int(), ctypes.c_void_p(), ctypes.create_string_buffer(100)
        do("cuDeviceGet", ctypes.byref(device), number)
        do("cuDeviceGetName", name, 100, device)
        do("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        do("cuCtxSetCurrent", context)
        module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        do("cuModuleLoadData", ctypes.byref(module), PTX)
        do("cuModuleGetFunction", ctypes.byref(function), module, b"multiples")
        do("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4 * COUNT))
        words = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
        do("cuLaunchKernel", function, COUNT // 256, 1, 1, 256, 1, 1, 0, None, words, None)
        numbers = (ctypes.c_uint32 * COUNT)()
        do("cuMemcpyDtoH_v2", numbers, memory, ctypes.c_size_t(4 * COUNT))
        print(f"GPU: {name.value.decode()}; sum {sum(numbers)}", flush=True)


main()
