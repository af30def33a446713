"""Damage to files of every tool: read, or refused with one line; no other error, and no hang."""

import gzip
import json
import os
import random
from pathlib import Path

import pytest

from rooflens.analysis.readers.read_report import launches_of, read_report
from rooflens.errors import RooflensError
from tests.analysis.readers.exports import written
from tests.analysis.readers.test_ncu_source import page
from tests.analysis.readers.test_ncu_window import LINES
from tests.analysis.readers.test_nsys_sqlite import WHOLE, made
from tests.analysis.readers.test_nvprof_csv import METRICS, SUMMARY, TRACE
from tests.analysis.readers.test_pytorch_trace import CARD, OPERATOR, annotation, kernel

MUTANTS = int(os.environ.get("ROOFLENS_MUTANTS", "120"))
PIECES = (
    b'"',
    b",",
    b"\n",
    b"\0",
    b"[",
    b"{",
    b"9" * 50,
    b"-",
    b"e9",
    b"\xff",
    b"null",
    b"\\ud800",
)


def trace() -> bytes:
    events = [OPERATOR, annotation("a", 0, 1000), *(kernel(f"k{place}") for place in range(20))]
    return json.dumps({"deviceProperties": [CARD], "traceEvents": events}).encode()


def whole(name: str, folder: Path) -> bytes:
    if name == "nsys":
        return made(folder, WHOLE).read_bytes()
    return {
        "nvprof": (SUMMARY + TRACE + METRICS).encode(),
        "trace": trace(),
        "compressed trace": gzip.compress(trace()),
        "window": written(LINES).encode(),
        "source": page(("FFMA R5, R0, R5, 1", "100"), ("EXIT", "3")).encode(),
    }[name]


def damaged(data: bytes, source: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 5))):
        place = source.randrange(len(changed))
        match source.randrange(5):
            case 0:
                changed[place] = source.randrange(256)
            case 1:
                del changed[place : place + source.randrange(1, 20)]
            case 2:
                changed[place:place] = source.choice(PIECES)
            case 3:
                del changed[place:]
            case _:
                other = source.randrange(len(changed))
                changed[place:place] = changed[other : other + source.randrange(1, 60)]
        changed = changed or bytearray(b"x")
    return bytes(changed)


@pytest.mark.parametrize(
    "name", ["nvprof", "trace", "compressed trace", "window", "source", "nsys"]
)
def test_damage_is_read_or_refused(name: str, tmp_path: Path) -> None:
    source = random.Random(name)
    data, file = whole(name, tmp_path), tmp_path / "report"
    outcomes = set()
    for _ in range(MUTANTS):
        file.write_bytes(damaged(data, source))
        try:
            launches_of([read_report(file)])
            outcomes.add("read")
        except RooflensError:
            outcomes.add("refused")
    assert "refused" in outcomes
