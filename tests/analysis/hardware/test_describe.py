"""Cards at hand: what the driver says, what the table adds, and what is worked out or absent."""

import pytest

from rooflens.analysis.hardware import describe_card, find_card
from rooflens.precision import Precision
from rooflens.terms import CeilingBasis, MemoryLevel
from tests.analysis.hardware.cards import attributes

DRAM = MemoryLevel.DRAM


def test_an_h200_has_the_tables_peaks_and_the_drivers_limits() -> None:
    card = describe_card(attributes())
    assert card.name == "NVIDIA H200"
    assert card.driver_uuid == "GPU-00000000-0000-0000-0000-000000000001"
    assert card.peaks == find_card("H200").peaks
    assert card.bandwidths[DRAM].per_s == 4800e9
    assert card.bandwidths[DRAM].source == "gpu_specs: D1;S1;S14;S15"
    assert card.sm_clock_hz == 1.98e9
    assert card.l2_bytes == 62_914_560
    assert card.dram_bytes == 150_120_000_000
    assert card.limits.shared_bytes_per_block == 232_448
    assert card.sources["sm_clock_hz"] == "driver attribute CLOCK_RATE"
    assert card.sources["l2_bytes"] == "driver attribute L2_CACHE_SIZE"
    assert card.sources["dram_bytes"] == "driver call cuDeviceTotalMem"
    assert card.sources["architecture"].startswith("gpu_specs: ")
    assert card.notes[0].startswith("peaks and bandwidth are those of H200 SXM 141GB")
    assert not any("worked out" in note for note in card.notes)


def test_the_drivers_l2_and_memory_win_over_the_tables() -> None:
    card = describe_card(attributes(l2_bytes=50 * 2**20, total_memory_bytes=140 * 2**30))
    assert card.l2_bytes == 50 * 2**20
    assert card.dram_bytes == 140 * 2**30
    untold = describe_card(attributes(l2_bytes=None))
    assert untold.l2_bytes is None
    assert "l2_bytes" not in untold.sources


def test_an_unknown_card_is_worked_out_from_attributes() -> None:
    card = describe_card(attributes(name="NVIDIA H200 NVL"))
    # 2 x 3.201e9 x 6016 / 8 and 132 x 128 x 2 x 1.98e9.
    assert card.bandwidths[DRAM].per_s == pytest.approx(4.814304e12)
    assert card.peaks[Precision.FP32].per_s == pytest.approx(66.908e12, rel=1e-4)
    assert set(card.peaks) == {Precision.FP32}
    assert card.architecture is None
    assert "architecture" not in card.sources
    assert card.bandwidths[DRAM].basis is CeilingBasis.NOMINAL
    assert card.bandwidths[DRAM].source == (
        "worked out from driver attributes: 2 x memory clock x bus width"
    )
    assert "worked out from driver attributes" in card.peaks[Precision.FP32].source
    assert any("not in the table" in note for note in card.notes)
    assert any("DRAM bandwidth is worked out" in note for note in card.notes)


@pytest.mark.parametrize(
    ("clock_hz", "bus", "table_name", "tolerance"),
    # The table's bandwidths are the data sheets', which round.
    [
        (10.501e9, 384, "RTX 4090", 0.001),
        (7.501e9, 192, "RTX 3060", 0.001),
        (1.593e9, 5120, "H100 PCIe", 0.001),
        (2.619e9, 6144, "GH200 96GB", 0.001),
        (3.201e9, 6016, "H200", 0.005),
        (3.996e9, 7680, "B200", 0.05),
    ],
)
def test_the_bandwidth_formula_meets_the_table(
    clock_hz: float, bus: int, table_name: str, tolerance: float
) -> None:
    card = describe_card(attributes(name="other", memory_clock_hz=clock_hz, memory_bus_bits=bus))
    listed = find_card(table_name).bandwidths[DRAM].per_s
    assert card.bandwidths[DRAM].per_s == pytest.approx(listed, rel=tolerance)


def test_a_slice_never_gets_the_whole_cards_peaks() -> None:
    card = describe_card(
        attributes(
            name="NVIDIA H200 MIG 1g.18gb",
            sm_count=16,
            total_memory_bytes=17 * 2**30,
            memory_bus_bits=752,
        )
    )
    assert card.peaks[Precision.FP32].per_s == pytest.approx(16 * 128 * 2 * 1.98e9)
    assert card.bandwidths[DRAM].per_s == pytest.approx(4.814304e12 / 8)
    assert Precision.FP16_TENSOR_FP32_ACC not in card.peaks


def test_a_card_that_only_shares_a_name_says_so() -> None:
    card = describe_card(attributes(sm_count=66))
    assert set(card.peaks) == {Precision.FP32}
    assert card.notes[0] == (
        "named like H200 SXM 141GB of the table but has 66 SMs, not 132: its peaks not used"
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"memory_clock_hz": None},
        {"memory_clock_hz": 0.0},
        {"memory_bus_bits": None},
        {"memory_bus_bits": 0},
        {"integrated": True},
        {"integrated": None, "compute_capability": (8, 7)},
        {"integrated": None, "compute_capability": (12, 1)},
    ],
)
def test_bandwidth_is_absent_where_the_driver_cannot_tell(changed: dict[str, object]) -> None:
    card = describe_card(attributes(name="other", **changed))
    assert card.bandwidths == {}
    assert any("DRAM bandwidth is absent" in note for note in card.notes)
    assert Precision.FP32 in card.peaks


@pytest.mark.parametrize(
    "changed", [{"compute_capability": (13, 0)}, {"sm_clock_hz": None}, {"sm_clock_hz": 0.0}]
)
def test_fp32_peak_is_absent_where_it_cannot_be_worked_out(changed: dict[str, object]) -> None:
    card = describe_card(attributes(name="other", **changed))
    assert card.peaks == {}
    assert any("FP32 peak is absent" in note for note in card.notes)
    assert DRAM in card.bandwidths


def test_a_zero_from_the_driver_is_absent_not_zero() -> None:
    card = describe_card(
        attributes(l2_bytes=0, sm_clock_hz=0.0, threads_per_sm=0, reserved_shared_bytes_per_block=0)
    )
    assert card.l2_bytes is None
    assert card.sm_clock_hz is None
    assert card.limits.threads_per_sm is None
    assert not {"l2_bytes", "sm_clock_hz", "threads_per_sm"} & set(card.sources)
    # No reserve is a fact: Turing and older have none.
    assert card.limits.reserved_shared_bytes_per_block == 0


def test_a_clock_or_memory_unlike_the_tables_is_noted() -> None:
    clocked = describe_card(attributes(sm_clock_hz=2.1e9))
    assert any("top clock is 2.100 GHz, the table's 1.980 GHz" in note for note in clocked.notes)
    slower = describe_card(attributes(memory_clock_hz=2.619e9))
    assert any("3.939 TB/s of bandwidth, the table 4.800" in note for note in slower.notes)
    assert not any("top clock" in note for note in describe_card(attributes()).notes)


def test_a_described_card_shares_no_mapping_with_the_table() -> None:
    card, row = describe_card(attributes()), find_card("H200")
    assert card.peaks == row.peaks
    assert card.peaks is not row.peaks
    assert card.bandwidths is not row.bandwidths
