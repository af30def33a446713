"""One prepared kernel on a card: its buffers, its loaded code, a checked run, and its work."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rooflens.errors import CudaError, VerificationError
from rooflens.kernels.spec import Array, Launch, Pointer, Role, Scalar
from rooflens.profiler.compile import CodeKind
from rooflens.profiler.cuda.gate import checked, core_module, driver_module, translated
from rooflens.profiler.cuda.memory import GUARD_BYTES, DeviceBuffer, allocate
from rooflens.profiler.cuda.queue import CudaQueue, Step
from rooflens.profiler.cuda.work import CudaWork
from rooflens.profiler.prepare import Prepared


class Execution:
    """Owns the device memory of one prepared kernel; a context manager that gives it back.

    guarded: buffers are poisoned, lie between guard zones, and both are checked. Without, each is
    an allocation of its own size that nothing has written to, as a memory checker needs it.
    """

    def __init__(self, queue: CudaQueue, prepared: Prepared, *, guarded: bool = True) -> None:
        self._queue, self._prepared, self._guarded = queue, prepared, guarded
        self._buffers: dict[str, DeviceBuffer] = {}

    def __enter__(self) -> "Execution":
        try:
            for spec in self._prepared.plan.buffers:
                guard_bytes = GUARD_BYTES if self._guarded else 0
                self._buffers[spec.name] = allocate(spec, guard_bytes=guard_bytes)
            self._steps = self._load()
        except BaseException:
            self._free()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._free()

    def run_checked(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Results of one run on `inputs`, with outputs and scratch poisoned before it.

        Raises VerificationError if the run wrote outside a buffer or changed an input, CudaError if
        it crashed.
        """
        for name, buffer in self._buffers.items():
            if self._guarded:
                buffer.poison()
            if buffer.spec.role.is_filled:
                buffer.upload(inputs[name])
        self._wait("preparing the buffers")
        work = self.work()
        for launch in range(work.launches):
            work.enqueue(launch)
        self._wait(f"{self._prepared.kernel.name} on the device")
        self._check_memory(inputs)
        return {
            name: buffer.download()
            for name, buffer in self._buffers.items()
            if buffer.spec.role.is_result
        }

    def work(self) -> CudaWork:
        """The launches, to be timed."""
        return CudaWork(self._queue, self._steps)

    def _check_memory(self, inputs: Mapping[str, Array]) -> None:
        for name, buffer in self._buffers.items():
            if self._guarded and not buffer.guards_intact():
                raise VerificationError(f"the kernel wrote outside buffer {name!r}")
            if buffer.spec.role is Role.INPUT:
                # Bytes, not values: a NaN differs from itself.
                before = np.ascontiguousarray(inputs[name]).reshape(-1).view(np.uint8)
                if not np.array_equal(before, buffer.download().reshape(-1).view(np.uint8)):
                    raise VerificationError(f"the kernel changed its input {name!r}")

    def _wait(self, call: str) -> None:
        checked(driver_module().cuCtxSynchronize(), call)

    def _load(self) -> list[Step]:
        core, code = core_module(), self._prepared.code
        with translated(f"loading {self._prepared.kernel.name}"):
            make = (
                core.ObjectCode.from_ptx
                if code.kind is CodeKind.PTX
                else core.ObjectCode.from_cubin
            )
            module = make(code.code)
            return [
                (self._config(launch), self._kernel(module, launch), self._arguments(launch))
                for launch in self._prepared.plan.launches
            ]

    def _config(self, launch: Launch) -> Any:
        return core_module().LaunchConfig(
            grid=launch.grid, block=launch.block, shmem_size=launch.dynamic_shared_bytes
        )

    def _kernel(self, module: Any, launch: Launch) -> Any:
        kernel = module.get_kernel(launch.entry)
        driver = driver_module()
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        if launch.dynamic_shared_bytes > 0:
            call = driver.cuKernelSetAttribute(
                attribute, launch.dynamic_shared_bytes, kernel.handle, self._queue.device.device_id
            )
            checked(call, f"cuKernelSetAttribute {launch.dynamic_shared_bytes} shared bytes")
        return kernel

    def _arguments(self, launch: Launch) -> tuple[Any, ...]:
        return tuple(
            self._buffers[one.buffer].address if isinstance(one, Pointer) else _packed(one)
            for one in launch.arguments
        )

    def _free(self) -> None:
        for buffer in self._buffers.values():
            try:
                buffer.free()
            except CudaError:
                return  # a lost context has freed everything already
        self._buffers.clear()


def _packed(scalar: Scalar) -> Any:
    return scalar.packed()
