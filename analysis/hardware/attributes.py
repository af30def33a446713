"""A card as the CUDA driver describes it, in SI base units."""

from dataclasses import dataclass

from rooflens.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverAttributes:
    """What cuDeviceGetName, cuDeviceTotalMem and cuDeviceGetAttribute say of one device.

    Clocks are in Hz (the driver gives kHz) and are the highest the card may run at. None is what
    the driver cannot tell; it also says 0 for some (a memory clock under some virtual GPUs), which
    counts as untold. integrated: the GPU shares the system's memory.
    """

    name: str
    uuid: str | None = None
    compute_capability: tuple[int, int]
    sm_count: int
    total_memory_bytes: int
    shared_bytes_per_block_optin: int
    threads_per_block: int
    sm_clock_hz: float | None = None
    memory_clock_hz: float | None = None
    memory_bus_bits: int | None = None
    l2_bytes: int | None = None
    shared_bytes_per_sm: int | None = None
    threads_per_sm: int | None = None
    blocks_per_sm: int | None = None
    registers_per_sm: int | None = None
    reserved_shared_bytes_per_block: int | None = None
    integrated: bool | None = None

    def __post_init__(self) -> None:
        needed = (
            self.compute_capability[0],
            self.sm_count,
            self.total_memory_bytes,
            self.shared_bytes_per_block_optin,
            self.threads_per_block,
        )
        if min(needed) < 1:
            raise UsageError(f"a device needs SMs, memory and a capability, got {self!r}")
