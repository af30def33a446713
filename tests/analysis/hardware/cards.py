"""Cards as their drivers describe them."""

from typing import Any

from rooflens.analysis.hardware import DriverAttributes

H200: dict[str, Any] = {
    "name": "NVIDIA H200",
    "uuid": "GPU-00000000-0000-0000-0000-000000000001",
    "compute_capability": (9, 0),
    "sm_count": 132,
    "total_memory_bytes": 150_120_000_000,
    "shared_bytes_per_block_optin": 232_448,
    "threads_per_block": 1024,
    "sm_clock_hz": 1.98e9,
    "memory_clock_hz": 3.201e9,
    "memory_bus_bits": 6016,
    "l2_bytes": 62_914_560,
    "shared_bytes_per_sm": 233_472,
    "threads_per_sm": 2048,
    "blocks_per_sm": 32,
    "registers_per_sm": 65536,
    "reserved_shared_bytes_per_block": 1024,
    "integrated": False,
}


def attributes(**changed: Any) -> DriverAttributes:
    """An H200's attributes, or another card's where fields are given."""
    return DriverAttributes(**{**H200, **changed})
