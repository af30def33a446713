"""A card at hand: limits and sizes from the driver, peaks from the table or worked out."""

from collections.abc import Mapping

from rooflens.analysis.hardware.attributes import DriverAttributes
from rooflens.analysis.hardware.match import card_of_driver_name, disagreement, match_driver_name
from rooflens.hardware import Ceiling, HardwareSpec, LaunchLimits
from rooflens.precision import Precision
from rooflens.terms import CeilingBasis, MemoryLevel

FP32_LANES_PER_SM: Mapping[tuple[int, int], int] = {
    (7, 0): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 7): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (10, 3): 128,
    (12, 0): 128,
    (12, 1): 128,
}
"""FP32 results per clock cycle and SM (CUDA programming guide, arithmetic throughput)."""

# Their memory is the system's, and what the driver calls its clock is not: 1.3 GHz on an AGX Orin,
# whose memory runs at 3.2.
_INTEGRATED = frozenset({(7, 2), (8, 7), (10, 1), (11, 0), (12, 1)})

_CLOCK_TOLERANCE = 0.01
_BANDWIDTH_TOLERANCE = 0.02


def describe_card(attributes: DriverAttributes) -> HardwareSpec:
    """The HardwareSpec of a device, from the table where it is matched and the driver.

    Limits, clock, L2 and memory size are always the driver's. Peaks and bandwidth are the table's;
    the DRAM bandwidth and the FP32 peak that it lacks are worked out from attributes, and say so.
    What cannot be known is absent.
    """
    card = match_driver_name(attributes.name, attributes)
    bandwidths = {} if card is None else dict(card.bandwidths)
    peaks = {} if card is None else dict(card.peaks)
    notes = list(_notes(attributes, card))
    if MemoryLevel.DRAM not in bandwidths:
        bandwidth = worked_out_bandwidth(attributes)
        if bandwidth is None:
            notes.append(
                "DRAM bandwidth is absent: the driver tells no memory clock and bus to work it out"
            )
        else:
            bandwidths[MemoryLevel.DRAM] = bandwidth
            notes.append(f"DRAM bandwidth is {bandwidth.source}")
    if Precision.FP32 not in peaks:
        peak = worked_out_fp32_peak(attributes)
        if peak is None:
            notes.append("FP32 peak is absent: this capability or clock is unknown")
        else:
            peaks[Precision.FP32] = peak
            notes.append(f"FP32 peak is {peak.source}")
    return HardwareSpec(
        name=attributes.name,
        architecture=None if card is None else card.architecture,
        limits=_limits(attributes),
        sm_clock_hz=attributes.sm_clock_hz or None,
        dram_bytes=attributes.total_memory_bytes,
        l2_bytes=attributes.l2_bytes or None,
        bandwidths=bandwidths,
        peaks=peaks,
        sources=_sources(attributes, card),
        notes=tuple(notes),
        driver_uuid=attributes.uuid,
    )


def worked_out_bandwidth(attributes: DriverAttributes) -> Ceiling | None:
    """DRAM bandwidth in bytes/s: two transfers per memory clock over the bus.

    None where the driver tells no clock or bus, and for a GPU on the system's memory, whose clock
    the driver does not know.
    """
    integrated = attributes.integrated
    if integrated is None:
        integrated = attributes.compute_capability in _INTEGRATED
    if integrated or not attributes.memory_clock_hz or not attributes.memory_bus_bits:
        return None
    return Ceiling(
        per_s=2 * attributes.memory_clock_hz * attributes.memory_bus_bits / 8,
        basis=CeilingBasis.NOMINAL,
        source="worked out from driver attributes: 2 x memory clock x bus width",
    )


def worked_out_fp32_peak(attributes: DriverAttributes) -> Ceiling | None:
    """FP32 peak in FLOP/s: SMs x lanes x 2 x SM clock; a fused multiply-add counts as 2."""
    lanes = FP32_LANES_PER_SM.get(attributes.compute_capability)
    if lanes is None or not attributes.sm_clock_hz:
        return None
    return Ceiling(
        per_s=attributes.sm_count * lanes * 2 * attributes.sm_clock_hz,
        basis=CeilingBasis.NOMINAL,
        source=f"worked out from driver attributes: SMs x {lanes} FP32 lanes x 2 x SM clock",
    )


def _limits(attributes: DriverAttributes) -> LaunchLimits:
    return LaunchLimits(
        compute_capability=attributes.compute_capability,
        sm_count=attributes.sm_count,
        shared_bytes_per_block=attributes.shared_bytes_per_block_optin,
        threads_per_block=attributes.threads_per_block,
        shared_bytes_per_sm=attributes.shared_bytes_per_sm or None,
        threads_per_sm=attributes.threads_per_sm or None,
        blocks_per_sm=attributes.blocks_per_sm or None,
        registers_per_sm=attributes.registers_per_sm or None,
        reserved_shared_bytes_per_block=attributes.reserved_shared_bytes_per_block,
    )


def _sources(attributes: DriverAttributes, card: HardwareSpec | None) -> dict[str, str]:
    """Where each scalar field is from; fields that the driver does not tell have no entry."""
    told = {
        "compute_capability": "COMPUTE_CAPABILITY_MAJOR and _MINOR",
        "sm_count": "MULTIPROCESSOR_COUNT",
        "shared_bytes_per_block": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
        "threads_per_block": "MAX_THREADS_PER_BLOCK",
    }
    if attributes.sm_clock_hz:
        told["sm_clock_hz"] = "CLOCK_RATE"
    if attributes.l2_bytes:
        told["l2_bytes"] = "L2_CACHE_SIZE"
    if attributes.shared_bytes_per_sm:
        told["shared_bytes_per_sm"] = "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"
    if attributes.threads_per_sm:
        told["threads_per_sm"] = "MAX_THREADS_PER_MULTIPROCESSOR"
    if attributes.blocks_per_sm:
        told["blocks_per_sm"] = "MAX_BLOCKS_PER_MULTIPROCESSOR"
    if attributes.registers_per_sm:
        told["registers_per_sm"] = "MAX_REGISTERS_PER_MULTIPROCESSOR"
    if attributes.reserved_shared_bytes_per_block is not None:
        told["reserved_shared_bytes_per_block"] = "RESERVED_SHARED_MEMORY_PER_BLOCK"
    sources = {field: f"driver attribute {name}" for field, name in told.items()}
    sources["dram_bytes"] = "driver call cuDeviceTotalMem"
    if card is not None:
        sources["architecture"] = card.sources["architecture"]
    return sources


def _notes(attributes: DriverAttributes, card: HardwareSpec | None) -> tuple[str, ...]:
    if card is None:
        named_like = card_of_driver_name(attributes.name)
        if named_like is None:
            return ("not in the table of known cards: peaks are worked out or absent",)
        reason = disagreement(named_like, attributes)
        return (f"named like {named_like.name} of the table but has {reason}: its peaks not used",)
    notes = [f"peaks and bandwidth are those of {card.name} in the table of known cards"]
    clock, nominal = attributes.sm_clock_hz, card.sm_clock_hz
    if clock and nominal and abs(clock / nominal - 1) > _CLOCK_TOLERANCE:
        notes.append(
            f"the driver's top clock is {clock / 1e9:.3f} GHz, the table's {nominal / 1e9:.3f} GHz:"
            " peaks are for the table's"
        )
    worked_out, listed = worked_out_bandwidth(attributes), card.bandwidths.get(MemoryLevel.DRAM)
    if worked_out and listed and abs(worked_out.per_s / listed.per_s - 1) > _BANDWIDTH_TOLERANCE:
        notes.append(
            f"memory clock and bus width give {worked_out.per_s / 1e12:.3f} TB/s of bandwidth, "
            f"the table {listed.per_s / 1e12:.3f} TB/s"
        )
    return (*notes, *card.notes)
