"""The cards of this machine, as the driver describes them."""

from typing import Any

from rooflens.analysis.hardware import DriverAttributes
from rooflens.errors import CudaError, NotAvailableError
from rooflens.profiler.cuda.gate import checked, driver_module

NO_GPU_HINT = "run with --device none, or on a machine with an NVIDIA GPU and its driver"


def count_devices() -> int:
    """How many cards the driver shows. NotAvailableError, with its remedy, without a driver."""
    driver = driver_module()
    try:
        checked(driver.cuInit(0), "cuInit")
        return int(checked(driver.cuDeviceGetCount(), "cuDeviceGetCount"))
    except CudaError as error:
        if error.name == "CUDA_ERROR_NO_DEVICE":
            return 0
        raise NotAvailableError(f"the driver does not start: {error}", NO_GPU_HINT) from error
    except RuntimeError as error:  # raised by the bindings when libcuda is not on the machine
        raise NotAvailableError("no NVIDIA driver here (libcuda not found)", NO_GPU_HINT) from error


def list_devices() -> tuple[DriverAttributes, ...]:
    """Attributes of every card; NotAvailableError without a driver."""
    return tuple(read_attributes(ordinal) for ordinal in range(count_devices()))


def read_attributes(ordinal: int) -> DriverAttributes:
    """Attributes of the card of that number. NotAvailableError if there is none."""
    count = count_devices()
    if not 0 <= ordinal < count:
        raise NotAvailableError(f"no device {ordinal}: the driver shows {count}", NO_GPU_HINT)
    driver = driver_module()
    handle = checked(driver.cuDeviceGet(ordinal), "cuDeviceGet")
    names = driver.CUdevice_attribute

    def optional(name: str, *, zero_counts: bool = False) -> int | None:
        member = getattr(names, f"CU_DEVICE_ATTRIBUTE_{name}", None)
        if member is None:
            return None
        status, value = driver.cuDeviceGetAttribute(member, handle)
        return int(value) if int(status) == 0 and (int(value) > 0 or zero_counts) else None

    def required(name: str) -> int:
        member = getattr(names, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(
            checked(driver.cuDeviceGetAttribute(member, handle), f"cuDeviceGetAttribute {name}")
        )

    raw_name = checked(driver.cuDeviceGetName(256, handle), "cuDeviceGetName")
    clock_khz, memory_khz = optional("CLOCK_RATE"), optional("MEMORY_CLOCK_RATE")
    return DriverAttributes(
        name=bytes(raw_name).split(b"\0", 1)[0].decode(errors="replace").strip(),
        uuid=_uuid(driver, handle),
        compute_capability=(
            required("COMPUTE_CAPABILITY_MAJOR"),
            required("COMPUTE_CAPABILITY_MINOR"),
        ),
        sm_count=required("MULTIPROCESSOR_COUNT"),
        sm_clock_hz=None if clock_khz is None else clock_khz * 1e3,
        memory_clock_hz=None if memory_khz is None else memory_khz * 1e3,
        memory_bus_bits=optional("GLOBAL_MEMORY_BUS_WIDTH"),
        l2_bytes=optional("L2_CACHE_SIZE"),
        total_memory_bytes=int(checked(driver.cuDeviceTotalMem(handle), "cuDeviceTotalMem")),
        shared_bytes_per_block_optin=required("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        shared_bytes_per_sm=optional("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        threads_per_sm=optional("MAX_THREADS_PER_MULTIPROCESSOR"),
        blocks_per_sm=optional("MAX_BLOCKS_PER_MULTIPROCESSOR"),
        registers_per_sm=optional("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        reserved_shared_bytes_per_block=optional(
            "RESERVED_SHARED_MEMORY_PER_BLOCK", zero_counts=True
        ),
        threads_per_block=required("MAX_THREADS_PER_BLOCK"),
        integrated=optional("INTEGRATED") is not None,
    )


def _uuid(driver: Any, handle: Any) -> str:
    get = getattr(driver, "cuDeviceGetUuid_v2", None) or driver.cuDeviceGetUuid
    raw = checked(get(handle), "cuDeviceGetUuid")
    digits = bytes(raw.bytes)[:16].hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "GPU-" + "-".join(parts)
