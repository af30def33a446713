"""The table of known cards: its facts, its units, and how a bad file is refused."""

import csv
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from rooflens.analysis.hardware import find_card, known_cards, read_cards
from rooflens.analysis.hardware.describe import FP32_LANES_PER_SM
from rooflens.analysis.hardware.driver_names import DRIVER_NAMES
from rooflens.analysis.hardware.table import TABLE_PATH, source_in_words
from rooflens.analysis.roofline import ridge
from rooflens.errors import DataFormatError
from rooflens.hardware import HardwareSpec
from rooflens.precision import Precision
from rooflens.terms import CeilingBasis, MemoryLevel

CARDS = pytest.mark.parametrize("card", known_cards(), ids=lambda card: card.name)


def _lines() -> list[list[str]]:
    with TABLE_PATH.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _write(path: Path, lines: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(lines)
    return path


def test_the_rtx_4090_in_si_units() -> None:
    card = find_card("GeForce RTX 4090")
    assert card.bandwidths[MemoryLevel.DRAM].per_s == 1008e9
    assert card.peaks[Precision.FP32].per_s == 82.6e12
    assert ridge(82.6e12, 1008e9) == pytest.approx(81.9, abs=0.05)
    assert card.compute_capability == (8, 9)
    assert card.limits.sm_count == 128
    assert card.sm_clock_hz == 2.52e9
    assert card.dram_bytes == 24 * 2**30
    assert card.l2_bytes == 72 * 2**20
    assert card.limits.shared_bytes_per_block == 99 * 1024
    assert card.limits.shared_bytes_per_sm == 100 * 1024
    assert card.limits.reserved_shared_bytes_per_block == 1024
    assert card.driver_uuid is None


def test_geforce_accumulates_in_fp32_at_half_rate_and_a_professional_card_at_full() -> None:
    geforce, professional = find_card("RTX 4090").peaks, find_card("L40S").peaks
    assert geforce[Precision.FP16_TENSOR_FP16_ACC].per_s == 330.3e12
    assert geforce[Precision.FP16_TENSOR_FP32_ACC].per_s == 165.2e12
    assert geforce[Precision.FP8_TENSOR_FP32_ACC].per_s == 330.3e12
    assert geforce[Precision.FP8_TENSOR_FP16_ACC].per_s == 660.6e12
    assert professional[Precision.FP16_TENSOR_FP32_ACC].per_s == 362.05e12
    assert professional[Precision.FP16_TENSOR_FP16_ACC].per_s == 362.05e12


def test_dense_peaks_not_sparse_ones() -> None:
    assert find_card("H200").peaks[Precision.FP16_TENSOR_FP32_ACC].per_s == 989.4e12
    assert find_card("H200").peaks[Precision.FP8_TENSOR_FP32_ACC].per_s == 1978.9e12
    assert find_card("A100 80GB").peaks[Precision.FP16_TENSOR_FP32_ACC].per_s == 312e12
    assert find_card("A100 80GB").peaks[Precision.TF32_TENSOR].per_s == 156e12
    assert find_card("L4").peaks[Precision.FP16_TENSOR_FP32_ACC].per_s == 121e12


def test_what_is_blank_is_absent() -> None:
    assert find_card("RTX 3060").l2_bytes is None
    assert "l2_bytes" not in find_card("RTX 3060").sources
    assert Precision.FP8_TENSOR_FP32_ACC not in find_card("A100 80GB").peaks
    assert Precision.BF16_TENSOR_FP32_ACC not in find_card("T4").peaks
    assert Precision.FP64_TENSOR not in find_card("RTX 4090").peaks
    assert Precision.FP4_TENSOR not in find_card("H200").peaks
    # A reserve of zero bytes is a fact, not a gap.
    assert find_card("T4").limits.reserved_shared_bytes_per_block == 0


def test_l2_of_the_b200_is_what_its_driver_reports() -> None:
    assert find_card("B200").l2_bytes == 132_644_864


@CARDS
def test_fp32_peak_is_lanes_times_clock(card: HardwareSpec) -> None:
    lanes = FP32_LANES_PER_SM[card.compute_capability]
    assert card.sm_clock_hz is not None
    worked_out = card.limits.sm_count * lanes * 2 * card.sm_clock_hz
    assert card.peaks[Precision.FP32].per_s == pytest.approx(worked_out, rel=0.015)


@CARDS
def test_peaks_are_in_their_known_ratios(card: HardwareSpec) -> None:
    # The L40S sheet prints FP16 as 362.05, 1.2 % below what its TF32 and FP8 figures imply.
    rate = {precision: ceiling.per_s for precision, ceiling in card.peaks.items()}
    assert rate[Precision.FP64] < rate[Precision.FP32]
    half = rate[Precision.FP16_TENSOR_FP32_ACC]
    assert rate[Precision.FP16_TENSOR_FP16_ACC] / half == pytest.approx(
        2 if "GeForce" in card.name else 1, rel=0.015
    )
    if Precision.BF16_TENSOR_FP32_ACC in rate:
        assert rate[Precision.BF16_TENSOR_FP32_ACC] == half
        assert rate[Precision.TF32_TENSOR] == pytest.approx(half / 2, rel=0.015)
    if Precision.FP8_TENSOR_FP32_ACC in rate:
        assert rate[Precision.FP8_TENSOR_FP32_ACC] == pytest.approx(2 * half, rel=0.015)
    if Precision.INT8_TENSOR in rate:
        assert rate[Precision.INT8_TENSOR] == pytest.approx(
            2 * rate[Precision.FP16_TENSOR_FP16_ACC], rel=0.015
        )


def test_fp64_of_a_ga102_is_one_64th() -> None:
    for name in ("A10", "RTX A6000", "RTX 3090"):
        peaks = find_card(name).peaks
        ratio = peaks[Precision.FP32].per_s / peaks[Precision.FP64].per_s
        assert ratio == pytest.approx(64, rel=0.005)


@CARDS
def test_every_value_says_where_it_comes_from(card: HardwareSpec) -> None:
    for ceiling in (*card.bandwidths.values(), *card.peaks.values()):
        assert ceiling.basis is CeilingBasis.NOMINAL
        assert ceiling.source.startswith("gpu_specs: ")
    present = {
        "sm_clock_hz": card.sm_clock_hz,
        "dram_bytes": card.dram_bytes,
        "l2_bytes": card.l2_bytes,
        "shared_bytes_per_sm": card.limits.shared_bytes_per_sm,
        "threads_per_sm": card.limits.threads_per_sm,
        "reserved_shared_bytes_per_block": card.limits.reserved_shared_bytes_per_block,
    }
    for field, value in present.items():
        assert (field in card.sources) is (value is not None)
    assert {"compute_capability", "sm_count", "shared_bytes_per_block"} <= set(card.sources)
    assert any(note.startswith("sources of gpu_specs: ") for note in card.notes)


def test_unverified_values_say_so() -> None:
    tensor = find_card("RTX 5090").peaks[Precision.FP16_TENSOR_FP32_ACC].source
    assert tensor == "gpu_specs: K (common knowledge, unverified)"
    assert find_card("RTX 5090").sources["l2_bytes"] == tensor
    assert find_card("RTX 3060").peaks[Precision.INT8_TENSOR].source == (
        "gpu_specs: X (computed, unverified)"
    )
    assert find_card("RTX 4090").peaks[Precision.FP32].source == "gpu_specs: D1;S5;S7"
    assert "K: common knowledge, unverified" in find_card("A10").notes[-1]
    assert "device attributes read from reports" in find_card("RTX 4090").notes[-1]
    assert source_in_words("Q7") is None


def test_driver_names_point_into_the_table() -> None:
    assert set(DRIVER_NAMES.values()) == {card.name for card in known_cards()}


def test_known_cards_is_cached() -> None:
    assert known_cards() is known_cards()


def _set(field: str, value: str) -> Callable[[list[list[str]]], None]:
    def change(lines: list[list[str]]) -> None:
        lines[2][lines[0].index(field)] = value

    return change


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fp32_tera_per_s", "fast"),
        ("fp32_tera_per_s", "-1"),
        ("fp32_tera_per_s", "0"),
        ("fp32_tera_per_s", "nan"),
        ("fp32_tera_per_s", "inf"),
        ("bandwidth_gb_per_s", "1,008"),
        ("sm_count", ""),
        ("sm_count", "76.5"),
        ("shared_kib_per_block", ""),
        ("compute_capability", "89"),
        ("compute_capability", ""),
        ("memory_gib", "16 GB"),
        ("name", " "),
        ("name", "GeForce RTX 4090"),
        ("sources", ""),
        ("sources", "S7;Q"),
        ("unverified", "speed=K"),
        ("unverified", "l2_mib=S7"),
        ("unverified", "l2_mib=K"),
        ("unverified", "fp4_tensor_tera_per_s=X"),
    ],
)
def test_a_bad_cell_is_refused_with_line_and_field(tmp_path: Path, field: str, value: str) -> None:
    lines = _lines()
    _set(field, value)(lines)
    path = _write(tmp_path / "cards.csv", lines)
    with pytest.raises(DataFormatError) as caught:
        read_cards(path)
    assert caught.value.path == str(path)
    assert caught.value.line == 3
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_an_untouched_copy_is_read_alike(tmp_path: Path) -> None:
    assert read_cards(_write(tmp_path / "kärten 1.csv", _lines())) == known_cards()


def test_bad_files_are_refused(tmp_path: Path) -> None:
    lines = _lines()
    short = _write(tmp_path / "short.csv", [lines[0], lines[1][:-1]])
    with pytest.raises(DataFormatError, match=r"short.csv:2: got 28 cells; expected 29"):
        read_cards(short)
    renamed = _write(tmp_path / "renamed.csv", [["gpu", *lines[0][1:]], *lines[1:]])
    with pytest.raises(DataFormatError, match="header"):
        read_cards(renamed)
    with pytest.raises(DataFormatError, match="no cards"):
        read_cards(_write(tmp_path / "bare.csv", lines[:1]))
    with pytest.raises(DataFormatError, match="cannot be read"):
        read_cards(tmp_path / "missing.csv")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataFormatError, match="header"):
        read_cards(tmp_path / "empty.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataFormatError, match="cannot be read"):
        read_cards(tmp_path / "binary.csv")


def test_every_number_is_finite() -> None:
    for card in known_cards():
        for ceiling in (*card.bandwidths.values(), *card.peaks.values()):
            assert math.isfinite(ceiling.per_s)
