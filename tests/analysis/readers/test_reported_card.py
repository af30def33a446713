"""Whose roofs imported launches are held against."""

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.analysis.readers.reported_card import card_of
from rooflens.errors import UnknownNameError, UsageError
from rooflens.terms import MemoryLevel
from tests.analysis.readers.exports import export, listed

H200 = read_ncu_csv(export("h200_raw_base_units"), name="raw.csv")
DETAILS = read_ncu_csv(export("h200_details"), name="details.csv")


def named(name: str) -> ReportFile:
    return ReportFile(measurements=(), cards=(ReportedCard(name=name, attributes={}),), notes=())


def test_the_report_s_own_attributes_describe_the_card() -> None:
    card, _ = card_of([H200], None)
    assert card is not None
    assert card.name == "NVIDIA H200"
    assert card.limits.sm_count == 132
    assert card.limits.shared_bytes_per_block == 232_448
    assert card.sm_clock_hz == 1.98e9
    assert card.l2_bytes == 62_914_560
    assert card.bandwidths[MemoryLevel.DRAM].per_s == 4.8e12


def test_a_report_without_a_card_has_no_roofs_unless_the_user_tells() -> None:
    card, notes = card_of([DETAILS], None)
    assert card is None
    assert "--gpu CARD" in notes[0]
    card, _ = card_of([DETAILS], "H200")
    assert card is not None
    assert card.name.startswith("H200")


def test_a_card_of_another_name_or_capability_is_refused() -> None:
    with pytest.raises(UsageError, match="but a report is of NVIDIA H200"):
        card_of([H200], "RTX 4090")
    with pytest.raises(UsageError, match=r"of compute capability 8\.9, but .* ran on 9\.0"):
        card_of([DETAILS], "RTX 4090")
    with pytest.raises(UnknownNameError):
        card_of([H200], "RTX 9999999")


def test_several_cards_have_no_common_roofs() -> None:
    card, notes = card_of([H200, named("NVIDIA A100-SXM4-80GB")], None)
    assert card is None
    assert "several cards (NVIDIA H200, NVIDIA A100-SXM4-80GB)" in notes[0]


def test_a_name_without_attributes_is_looked_up_and_says_so() -> None:
    card, notes = card_of([named("NVIDIA GeForce RTX 4090")], None)
    assert card is not None
    assert card.name == "GeForce RTX 4090"
    assert "by its name alone" in notes[0]
    card, notes = card_of([named("NVIDIA Imaginary 1")], None)
    assert card is None
    assert "not in the table of known cards" in notes[0]


def test_capabilities_are_only_compared_where_they_are_told() -> None:
    table = listed(("gpu__time_duration.sum", "ns", "5")).replace('"9.0"', '""')
    card, _ = card_of([read_ncu_csv(table.encode(), name="x")], "RTX 4090")
    assert card is not None
