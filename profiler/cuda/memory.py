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
    guard_bytes: int

    @property
    def address(self) -> int:
        return self.base + self.guard_bytes

    def poison(self) -> None:
        """Fills the tensor and both guards with bytes that read as NaN."""
        size = self.spec.size_bytes + 2 * self.guard_bytes
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
        guard = np.empty(self.guard_bytes, dtype=np.uint8)
        for address in (self.base, self.address + self.spec.size_bytes):
            call = driver_module().cuMemcpyDtoH(guard.ctypes.data, address, self.guard_bytes)
            checked(call, "cuMemcpyDtoH")
            if not bool((guard == POISON_BYTE).all()):
                return False
        return True

    def free(self) -> None:
        checked(driver_module().cuMemFree(self.base), "cuMemFree")


def allocate(spec: Buffer, *, guard_bytes: int = GUARD_BYTES) -> DeviceBuffer:
    """A buffer in device memory that nothing has been written to."""
    size = spec.size_bytes + 2 * guard_bytes
    base = int(checked(driver_module().cuMemAlloc(size), f"cuMemAlloc of {size} bytes"))
    return DeviceBuffer(spec=spec, base=base, guard_bytes=guard_bytes)
