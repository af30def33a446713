"""What bounds a measured rate, and whether it can be right at all."""

from dataclasses import dataclass

from rooflens.cost import Traffic
from rooflens.terms import Bound, CacheState
from rooflens.units import byte_count, byte_rate

# A run exactly at a roof is not above it; its fraction may round to just over 1.
_AT_ROOF = 1 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A bound, or None where it cannot be known, and the reason in words where there is one."""

    bound: Bound | None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What decides whether a cache explains a rate: traffic, working set and L2 size in bytes."""

    compulsory: Traffic
    working_set_bytes: int | None
    l2_bytes: int | None


def judge(
    *,
    state: CacheState,
    median_s: float,
    fraction_of_peak: float | None,
    fraction_of_bandwidth: float | None,
    footprint: Footprint,
    modelled: Bound | None,
) -> Verdict:
    """The verdict on a run of `median_s` seconds.

    Faster than the arithmetic peak is SUSPECT. Faster than DRAM is CACHE where L2 can explain it,
    else SUSPECT. Anything else stands on the `modelled` side of the ridge.
    """
    if fraction_of_peak is not None and fraction_of_peak > _AT_ROOF:
        return Verdict(
            bound=Bound.SUSPECT,
            note=f"computes at {fraction_of_peak:.2f} x the arithmetic peak: the time is too short,"
            " the operations are overcounted, or the card ran above its listed clock",
        )
    if fraction_of_bandwidth is None or fraction_of_bandwidth <= _AT_ROOF:
        return Verdict(bound=modelled, note=_hot_note(state, footprint))
    return _faster_than_dram(state, median_s, fraction_of_bandwidth, footprint)


def _hot_note(state: CacheState, footprint: Footprint) -> str | None:
    working_set, l2 = footprint.working_set_bytes, footprint.l2_bytes
    if state is not CacheState.HOT or working_set is None or l2 is None or working_set > l2:
        return None
    return (
        f"its {byte_count(working_set)} working set fits the {byte_count(l2)} L2, "
        "so that a hot run need not wait for DRAM"
    )


def _faster_than_dram(
    state: CacheState, median_s: float, fraction: float, footprint: Footprint
) -> Verdict:
    rate = footprint.compulsory.total_bytes / median_s
    seen = f"moves its data at {byte_rate(rate)}, {fraction:.2f} x DRAM's bandwidth"
    working_set, l2 = footprint.working_set_bytes, footprint.l2_bytes
    if working_set is None or l2 is None:
        lacking = "L2 size" if l2 is None else "working set"
        note = f"{seen}: whether L2 explains that is unknown, for want of the {lacking}"
        return Verdict(bound=None, note=note)
    used, cache = byte_count(working_set), byte_count(l2)
    if working_set >= 2 * l2:
        note = f"{seen}, but its {used} working set does not fit the {cache} L2"
        return Verdict(bound=Bound.SUSPECT, note=note)
    from_dram = _least_dram_bytes(state, footprint.compulsory, working_set, l2)
    if from_dram / median_s > rate / fraction * _AT_ROOF:
        held = "its inputs were evicted" if state is CacheState.COLD else "L2 holds only a part"
        note = (
            f"{seen}; {held}, and the {byte_count(from_dram)} that must then pass through DRAM "
            f"alone would need {byte_rate(from_dram / median_s)}"
        )
        return Verdict(bound=Bound.SUSPECT, note=note)
    fits = working_set <= l2
    if state is CacheState.COLD:
        how = f"{'its' if fits else 'part of its'} output may still be in the {cache} L2"
    elif fits:
        how = f"its {used} working set fits the {cache} L2"
    else:
        how = f"its {used} working set is partly held by the {cache} L2"
    return Verdict(bound=Bound.CACHE, note=f"{seen}: {how}")


def _least_dram_bytes(
    state: CacheState, compulsory: Traffic, working_set_bytes: int, l2_bytes: int
) -> float:
    """The compulsory bytes that no cache of this size can save from DRAM.

    A hot run may find one L2 full of its working set in place; a buffer that is both read and
    written saves twice. A cold one must read every input, and may end with one L2 full of output
    not yet written back.
    """
    if state is CacheState.COLD:
        return compulsory.read_bytes + max(0, compulsory.write_bytes - l2_bytes)
    passes = max(1.0, compulsory.total_bytes / working_set_bytes)
    return max(0.0, compulsory.total_bytes - l2_bytes * passes)
