"""Run <-> plain JSON values: exact both ways, and strict on the way in."""

import copy
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from rooflens.codec import count_samples, decode_run, encode_run, samples_of
from rooflens.errors import DataFormatError, UsageError
from rooflens.run import Run
from rooflens.terms import CacheState
from tests.rooflens.examples import CARD, ladder, measured, modelled, run_of
from tests.rooflens.strategies import runs

ABSENT = object()


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """The ladder's record with one entry replaced, or taken out."""
    record: Any = copy.deepcopy(encode_run(ladder()))
    node = record
    for step in path[:-1]:
        node = node[step]
    if value is ABSENT:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return record  # type: ignore[no-any-return]


def decoded(record: object) -> Run:
    return decode_run(record, samples_of(ladder()), path="some/run.json")


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
@given(runs)
def test_round_trip_is_exact(run: Run) -> None:
    text = json.dumps(encode_run(run), allow_nan=False)
    back = decode_run(json.loads(text), samples_of(run), path="x")
    assert back == run
    assert repr(back) == repr(run)  # == takes 1 for 1.0 and 0.0 for -0.0


def test_the_names_that_others_read() -> None:
    record = encode_run(run_of(measured("cached", 210e-6, 213.5e-6, rows=2, cols=3, reads=2)))
    (result,) = record["results"]
    assert record["schema_version"] == 1
    assert record["device"]["compute_capability"] == "9.0"
    assert record["device"]["bandwidths"] == {
        "dram": {"per_s": 4e12, "basis": "nominal", "source": "data sheet"}
    }
    assert result["size"] == {"rows": 2, "cols": 3}
    assert result["flops"] == {"fp32": 30}
    assert result["bytes"] == {
        "compulsory": 48,
        "compulsory_read": 24,
        "compulsory_write": 24,
        "issued": 72,
        "issued_read": 48,
        "issued_write": 24,
    }
    assert result["time"]["cold"]["samples"] == 11
    assert result["resources"]["registers"] == 32
    assert result["launches"][0]["threads"] == 2 * 256


def test_absent_is_null_and_never_zero() -> None:
    bare = replace(modelled("naive"), cost=None, launches=(), working_set_bytes=None)
    (result,) = encode_run(run_of(bare))["results"]
    for name in ("flops", "special_function_ops", "bytes", "resources", "working_set_bytes"):
        assert result[name] is None
    assert result["time"] == {}


@pytest.mark.parametrize("optional", ["git_revision", "nvrtc_version", "calibration"])
def test_missing_is_as_good_as_null(optional: str) -> None:
    run = decoded(changed(("provenance", optional), ABSENT))
    assert getattr(run.provenance, optional) is None


def test_unknown_fields_are_ignored() -> None:
    assert decoded(changed(("results", 3, "colour"), {"deep": [1]})) == ladder()
    assert decoded(changed(("device", "weight_kg"), 2)) == ladder()


def test_derived_numbers_are_not_trusted() -> None:
    assert decoded(changed(("results", 0, "bytes", "compulsory"), 1)) == ladder()
    assert decoded(changed(("results", 0, "resources"), {"registers": "many"})) == ladder()


HOT = ("results", 3, "time", "hot")


@pytest.mark.parametrize(
    ("path", "value", "field", "message"),
    [
        (("results",), ABSENT, "results", "missing"),
        (("results",), {}, "results", "got an object, expected an array"),
        (("results", 3), [], "results[3]", "got an array, expected an object"),
        (("results", 3, "kernel"), None, "results[3].kernel", "missing, or null"),
        (("results", 3, "kernel"), 7, "results[3].kernel", "got 7, expected a string"),
        (("results", 3, "dtype"), "float8", "results[3].dtype", "expected one of float32"),
        (("results", 3, "status"), "fine", "results[3].status", "ok, skipped, failed"),
        (("results", 3, "status"), "failed", "results[3]", "needs a reason"),
        (("results", 3, "basis"), "modelled", "results[3]", "cannot hold measured times"),
        (("results", 3, "size", "rows"), 1.0, "results[3].size.rows", "a whole number"),
        (("results", 3, "size", "rows"), True, "results[3].size.rows", "a whole number"),
        (("results", 3, "size", "rows"), -1, "results[3].size.rows", "from 0 to"),
        (("results", 3, "flops", "fp32"), 10**400, "results[3].flops.fp32", "from 0 to"),
        (("results", 3, "flops", "fp31"), 1, "results[3].flops.fp31", "'fp31', expected one"),
        (("results", 3, "bytes"), ABSENT, "results[3].bytes", "missing"),
        (("results", 3, "launches", 0, "grid"), [1, 2], "results[3].launches[0].grid", "three"),
        (("results", 3, "time", "warm"), {}, "results[3].time.warm", "expected one of hot, cold"),
        ((*HOT,), "fast", "results[3].time.hot", "got 'fast', expected an object"),
        ((*HOT, "correction_s"), math.nan, "results[3].time.hot.correction_s", "finite"),
        ((*HOT, "correction_s"), 10**400, "results[3].time.hot.correction_s", "finite"),
        ((*HOT, "correction_s"), "0", "results[3].time.hot.correction_s", "a number"),
        ((*HOT, "resolution_s"), -1e-9, "results[3].time.hot.resolution_s", ">= 0"),
        ((*HOT, "launches_per_sample"), 0, "results[3].time.hot", "must be >= 1"),
        ((*HOT, "samples"), 12, "results[3].time.hot.samples", "says 12 samples, but 11"),
        (HOT, None, "results[3].time.hot", "samples of result 3"),
        (("device", "compute_capability"), "9", "device.compute_capability", '"8.9"'),
        (("device", "peaks", "fp32", "per_s"), 0, "device.peaks.fp32", "positive finite"),
        (("device", "bandwidths", "dram", "basis"), "hoped", "device.bandwidths.dram.basis", "one"),
        (("device", "clocks"), ABSENT, "device.clocks", "missing"),
        (("provenance", "arguments"), "run", "provenance.arguments", "expected an array"),
        (("provenance", "arguments", 1), 5, "provenance.arguments[1]", "expected a string"),
        (("schema_version",), ABSENT, "schema_version", "missing"),
        (("schema_version",), "1", "schema_version", "a whole number"),
        (("schema_version",), 0, "schema_version", "got 0, expected 1"),
    ],
)
def test_each_fault_is_named_with_its_place(
    path: tuple[str | int, ...], value: object, field: str, message: str
) -> None:
    with pytest.raises(DataFormatError) as caught:
        decoded(changed(path, value))
    assert caught.value.path == "some/run.json"
    assert caught.value.field == field
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_later_version_says_so_in_plain_words() -> None:
    with pytest.raises(DataFormatError, match="written by a later version: schema_version 2, this"):
        decoded(changed(("schema_version",), 2))


def test_a_long_value_is_cut_in_the_message() -> None:
    for path in (("results", 0, "status"), ("results", 0, "size", "rows")):
        with pytest.raises(DataFormatError) as caught:
            decoded(changed(path, "x\n" * 9999))
        assert len(str(caught.value)) < 200
        assert "\n" not in str(caught.value)


def test_a_hostile_name_is_shown_on_one_short_line() -> None:
    with pytest.raises(DataFormatError) as caught:
        decoded(changed(("device", "peaks", "\x1b[31m\n" * 999), {}))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_samples_of_a_result_that_is_not_there_are_refused() -> None:
    samples = {**samples_of(ladder()), (7, CacheState.HOT): (1.0,)}
    with pytest.raises(DataFormatError, match="result 7, which the record does not have"):
        decode_run(encode_run(ladder()), samples, path="x")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_not_encoded(value: float) -> None:
    row = measured("naive", 1e-3, 1e-3)
    bad_time = replace(row.times[CacheState.HOT], samples_s=(1.0, value))
    with pytest.raises(UsageError, match=r"results\[1\]\.time\.hot\.samples\[1\]"):
        encode_run(run_of(row, replace(row, times={CacheState.HOT: bad_time})))
    card = replace(CARD, sm_clock_hz=value)
    with pytest.raises(UsageError, match=r"device\.clocks\.sm_hz"):
        encode_run(run_of(card=card))


def test_samples_are_counted() -> None:
    assert count_samples(samples_of(ladder())) == 7 * 2 * 11
