"""The ncu line asks for what the reader reads."""

from rooflens.analysis.ncu_command import SECTIONS, ncu_command, ncu_metrics
from rooflens.analysis.readers.ncu_rules import work_out
from rooflens.analysis.readers.ncu_wanted import dimension_of
from rooflens.precision import Precision
from rooflens.terms import MemoryLevel
from tests.analysis.readers.exports import export


def test_every_metric_is_one_that_is_read() -> None:
    assert [name for name in ncu_metrics() if dimension_of(name) is None] == []
    assert len(set(ncu_metrics())) == len(ncu_metrics())


def test_the_metrics_alone_give_every_quantity() -> None:
    """With a value for each, as far as a chip has it."""
    found = work_out(dict.fromkeys(ncu_metrics(), 1.0), (9, 0))
    assert found.time_s == 1
    assert set(found.traffic_bytes) == {MemoryLevel.DRAM, MemoryLevel.L2, MemoryLevel.L1}
    assert {Precision.FP64, Precision.FP32, Precision.FP16} <= set(found.flops)
    assert found.tensor_ops
    assert found.special_function_instructions == 1


def test_its_metrics_are_names_of_a_real_chip() -> None:
    """All but those of other chips stand in a report of an H200, as counts or per cycle."""
    header = export("h200_raw_base_units").split(b"\n", 1)[0].decode().split('","')
    known = {name.split(".")[0] for name in header} | {
        name.split(".")[-2] for name in header if name.count(".") > 1
    }
    bases = {name.split(".")[0] for name in ncu_metrics()}
    other_chips = {name for name in bases if name not in known}
    assert len(other_chips) < len(bases) / 2
    assert "dram__bytes_read" in known & bases


def test_the_command_can_be_taken_apart_again() -> None:
    words = ncu_command(("python", "train.py", "--lr", "1"), report="out file.csv")
    assert words[0] == "ncu"
    assert words[-4:] == ("python", "train.py", "--lr", "1")
    assert words[words.index("--log-file") + 1] == "out file.csv"
    assert words[words.index("--metrics") + 1].split(",") == list(ncu_metrics())
    assert [words[place + 1] for place, word in enumerate(words) if word == "--section"] == list(
        SECTIONS
    )
