"""Device buffers with guard zones, filled and read through the driver."""

from dataclasses import dataclass

import numpy as np

from rooflens.kernels.spec import Array, Buffer
from rooflens.kernels.storage import numpy_type
from rooflens.profiler.cuda.gate import checked, driver_module

GUARD_BYTES = 512
POISON_BYTE = 0xFF  # NaN in every float type, -1 in every integer type


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceBuffer:
    """One allocation: guard, tensor, guard. `address` is the tensor's."""

    spec: Buffer
    base: int

    @property
    def address(self) -> int:
        return self.base + GUARD_BYTES

    def poison(self) -> None:
        """Fills the tensor and both guards with bytes that read as NaN."""
        size = self.spec.size_bytes + 2 * GUARD_BYTES
        checked(driver_module().cuMemsetD8(self.base, POISON_BYTE, size), "cuMemsetD8")

    def upload(self, values: Array) -> None:
        """Copies host values, of the tensor's shape and type, into the tensor."""
        host = np.ascontiguousarray(values, dtype=numpy_type(self.spec.dtype))
        call = driver_module().cuMemcpyHtoD(self.address, host.ctypes.data, host.nbytes)
        checked(call, "cuMemcpyHtoD")

    def download(self) -> Array:
        """The tensor as a host array of its shape."""
        host = np.empty(self.spec.shape, dtype=numpy_type(self.spec.dtype))
        call = driver_module().cuMemcpyDtoH(host.ctypes.data, self.address, host.nbytes)
        checked(call, "cuMemcpyDtoH")
        return host

    def guards_intact(self) -> bool:
        """Whether nothing wrote to the bytes before and after the tensor."""
        guard = np.empty(GUARD_BYTES, dtype=np.uint8)
        for address in (self.base, self.address + self.spec.size_bytes):
            call = driver_module().cuMemcpyDtoH(guard.ctypes.data, address, GUARD_BYTES)
            checked(call, "cuMemcpyDtoH")
            if not bool((guard == POISON_BYTE).all()):
                return False
        return True

    def free(self) -> None:
        checked(driver_module().cuMemFree(self.base), "cuMemFree")


def allocate(spec: Buffer) -> DeviceBuffer:
    """A poisoned buffer in device memory."""
    size = spec.size_bytes + 2 * GUARD_BYTES
    base = int(checked(driver_module().cuMemAlloc(size), f"cuMemAlloc of {size} bytes"))
    buffer = DeviceBuffer(spec=spec, base=base)
    buffer.poison()
    return buffer
