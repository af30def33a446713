"""Traces of the PyTorch profiler: by hand, in pieces, and damaged."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from rooflens.analysis.readers import json_stream
from rooflens.analysis.readers.pytorch_trace import read_pytorch_trace
from rooflens.analysis.readers.read_report import read_report
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.analysis.readers.reported_card import card_of
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement
from rooflens.reported import Report
from rooflens.terms import CacheState


def kernel(name: object = "void gemm<4>(float*)", **changed: Any) -> dict[str, Any]:
    event: dict[str, Any] = {
        "ph": "X",
        "cat": "kernel",
        "name": name,
        "pid": 0,
        "tid": 7,
        "ts": 100.5,
        "dur": 12.25,
        "args": {
            "External id": 5,
            "device": 0,
            "context": 1,
            "stream": 7,
            "registers per thread": 128,
            "shared memory": 13056,
            "grid": [8, 12, 1],
            "block": [128, 1, 1],
        },
    }
    return event | changed


OPERATOR = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {"External id": 5}}
CARD = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-80GB",
    "totalGlobalMem": 85_000_000_000,
    "computeMajor": 8,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "numSms": 108,
    "sharedMemPerBlockOptin": 166_912,
}


def annotation(name: str, start: float, span: float, tid: int = 7) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": "gpu_user_annotation",
        "name": name,
        "pid": 0,
        "tid": tid,
        "ts": start,
        "dur": span,
    }


def read(*events: object, **others: object) -> ReportFile:
    text = json.dumps({"schemaVersion": 1, **others, "traceEvents": list(events), "last": 1})
    return read_pytorch_trace(io.BytesIO(text.encode()), name="x.json")


def only(file: ReportFile) -> tuple[Measurement, Report]:
    (row,) = file.measurements
    assert row.report is not None
    return row, row.report


def refusal(text: str) -> str:
    with pytest.raises(DataFormatError) as caught:
        read_pytorch_trace(io.BytesIO(text.encode()), name="x.json")
    return str(caught.value)


def test_a_kernel_s_event_tells_time_shape_and_operator() -> None:
    row, report = only(read(kernel(), OPERATOR))
    assert row.kernel == "gemm<4>"
    assert row.times[CacheState.REPORTED].samples_s == (12.25e-6,)
    assert (report.grid, report.block) == ((8, 12, 1), (128, 1, 1))
    assert report.registers == 128
    assert report.shared_bytes == 13_056
    assert report.operator == "aten::mm"
    assert report.stream == "7"
    assert report.absent["dram bytes"] == "a timeline holds none"
    assert not report.flops


def test_launches_that_are_alike_are_samples_of_one_row() -> None:
    row, report = only(read(kernel(dur=3.0), kernel(dur=5.0), kernel(dur=4.0), OPERATOR))
    assert row.times[CacheState.REPORTED].samples_s == (3e-6, 5e-6, 4e-6)
    assert report.launches == 3


def test_another_shape_or_operator_is_another_row() -> None:
    other = kernel(args=kernel()["args"] | {"grid": [9, 12, 1]})
    alone = kernel(args=kernel()["args"] | {"External id": 6})
    assert len(read(kernel(), other, alone, OPERATOR).measurements) == 3


def test_annotations_hold_what_starts_in_them() -> None:
    """Overlapping, on another stream, over before, and a step's number, which tells no kernels
    apart."""
    _, report = only(
        read(
            annotation("backward", 100, 5),
            annotation("layer", 90, 100),
            annotation("before", 90, 10.5),
            annotation("elsewhere", 0, 1000, tid=20),
            annotation("ProfilerStep#3", 0, 1000),
            kernel(),
        )
    )
    assert report.ranges == ("layer", "backward")


def test_times_may_be_strings_and_whole_microseconds() -> None:
    row, _ = only(read(kernel(ts="100", dur="12.5")))
    assert row.times[CacheState.REPORTED].samples_s == (12.5e-6,)
    row, _ = only(read(kernel(ts=100, dur=9)))
    assert row.times[CacheState.REPORTED].resolution_s == 1e-6


def test_the_card_is_the_trace_s() -> None:
    file = read(kernel(), deviceProperties=[CARD])
    card, _ = card_of([file], None)
    assert card is not None
    assert card.limits.sm_count == 108
    assert file.measurements[0].architecture == "sm_80"


def test_control_characters_in_names_are_read() -> None:
    text = '{"traceEvents": [' + json.dumps(kernel("a kernel")).replace("a kernel", "a\x01k\n")
    row, _ = only(read_pytorch_trace(io.BytesIO(f"{text}]}}".encode()), name="x"))
    assert row.times


def test_a_list_of_events_alone_is_a_trace() -> None:
    text = json.dumps([OPERATOR, kernel()])
    only(read_pytorch_trace(io.BytesIO(text.encode()), name="x"))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_pieces_of_any_size_give_the_same(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(kernel(), OPERATOR, kernel("ünïcode ✓"), deviceProperties=[CARD], number=12.5)
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", chunk)
    events = (kernel(), OPERATOR, kernel("ünïcode ✓"))
    assert read(*events, deviceProperties=[CARD], number=12.5) == whole


def test_a_trace_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    text = json.dumps({"traceEvents": [kernel(), OPERATOR, kernel("second")]})
    for end in range(text.index('"second"') + 1, len(text)):
        file = read_pytorch_trace(io.BytesIO(text[:end].encode()), name="x")
        assert file.measurements[0].kernel == "gemm<4>"
        assert "ends before the trace does" in file.notes[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"traceEvents": []}', "JSON without events in traceEvents"),
        ('{"a": 1}', "JSON without events in traceEvents"),
        (json.dumps([OPERATOR]), "a trace of 1 events without a kernel; record it with"),
        ('{"traceEvents": [{"a": 1}, nonsense, {"b": 2}]}', "character 27: not JSON"),
        ('{"traceEvents" [1]}', "expected a colon"),
        (json.dumps([kernel(dur="fast")]), "event 1: dur: got 'fast', expected microseconds"),
        (json.dumps([kernel(dur=-1)]), "event 1: dur: got '-1'"),
        (json.dumps([kernel(dur="inf")]), "event 1: dur: got 'inf'"),
        (json.dumps([kernel(name=7)]), "event 1: name: got '7', expected a name"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_place(text: str, said: str) -> None:
    found = refusal(text)
    assert found.startswith("x.json")
    assert said in found


def test_odd_events_among_good_ones_do_no_harm() -> None:
    odd: tuple[object, ...] = (
        None,
        7,
        "text",
        [],
        {},
        {"cat": []},
        {"cat": "kernel", "ph": "s", "name": 3},
        {"cat": "cpu_op", "args": None},
        {"cat": "gpu_user_annotation", "ts": None},
    )
    only(read(*odd, kernel(args={"grid": [1, 2], "block": "x", "device": -1, "stream": {}})))


def test_a_compressed_trace_is_told_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_bytes(gzip.compress(json.dumps([kernel()]).encode()))
    only(read_report(file))
