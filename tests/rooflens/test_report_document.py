"""The JSON document, with every derived number worked by hand."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from rooflens.codec import decode_run, samples_of
from rooflens.errors import UsageError
from rooflens.measurement import Measurement
from rooflens.report.document import device_document, document
from rooflens.run import Run
from rooflens.terms import CacheState, Status
from tests.rooflens.examples import CARD, ended, ladder, measured, modelled, run_of, times
from tests.rooflens.strategies import runs


def result_of(measurement: Measurement) -> dict[str, Any]:
    (result,) = document(run_of(measurement))["results"]
    return dict(result)


def test_a_measured_row_by_hand() -> None:
    """1000 x 500 000 floats: 4 GB compulsory, 2.5 GFLOP; at 4 TB/s and 60 TFLOP/s."""
    row = result_of(measured("cached", 1.6e-3, 2e-3, rows=1000, cols=500_000, reads=2))
    assert row["kernel"] == "softmax.cached"
    assert row["status"] == "ok"
    assert row["basis"] == "measured"
    assert row["verification"]["passed"] is True
    assert row["bytes"]["compulsory"] == 4_000_000_000
    assert row["bytes"]["issued"] == 6_000_000_000
    assert row["intensity"] == pytest.approx(0.625)
    assert row["ridge_flop_per_byte"] == pytest.approx(15)
    assert row["attainable_flops_per_s"] == pytest.approx(2.5e12)
    assert row["time_bound_s"] == pytest.approx(1e-3)
    assert row["precision"] == "fp32"
    assert row["bandwidth_ceiling"]["per_s"] == 4e12
    assert row["peak_ceiling"] == {"per_s": 60e12, "basis": "nominal", "source": "data sheet"}
    assert row["cache_state"] == "cold"
    assert row["achieved_bytes_per_s"] == pytest.approx(2e12)
    assert row["achieved_flops_per_s"] == pytest.approx(1.25e12)
    assert row["fraction_of_bandwidth"] == pytest.approx(0.5)
    assert row["fraction_of_peak"] == pytest.approx(1.25 / 60)
    assert row["fraction_of_attainable"] == pytest.approx(0.5)
    assert row["bound"] == "memory"
    hot = row["time"]["hot"]
    assert hot["median_s"] == pytest.approx(1.6e-3)
    assert hot["p10_s"] == pytest.approx(1.6e-3 * 0.9992)
    assert hot["p90_s"] == pytest.approx(1.6e-3 * 1.0008)
    assert hot["samples"] == 11
    assert hot["method"] == "graph"
    assert hot["resolved"] is True
    assert hot["achieved_bytes_per_s"] == pytest.approx(2.5e12)
    assert hot["fraction_of_bandwidth"] == pytest.approx(0.625)
    assert hot["bound"] == "memory"
    low, high = hot["interval95_s"]
    assert low < hot["median_s"] < high


def test_the_device_names_its_ceilings_and_ridge() -> None:
    device = document(ladder())["device"]
    assert device["name"] == "Example GPU"
    assert device["kind"] == "cuda"
    assert device["peaks"]["fp32"]["basis"] == "nominal"
    assert device["ridge_flop_per_byte"] == {"fp32": pytest.approx(15)}
    assert device == {"kind": "cuda", **device_document(CARD)}
    blind = replace(CARD, bandwidths={})
    assert document(run_of(card=blind))["device"]["ridge_flop_per_byte"] == {}


def test_a_modelled_row_has_a_bound_and_no_time() -> None:
    row = result_of(modelled("naive", rows=1000, cols=500_000))
    assert row["basis"] == "modelled"
    assert row["time"] == {}
    assert row["time_bound_s"] == pytest.approx(1e-3)
    assert row["bound"] == row["model_bound"] == "memory"
    for name in (
        "cache_state",
        "achieved_bytes_per_s",
        "achieved_flops_per_s",
        "fraction_of_bandwidth",
        "fraction_of_peak",
        "fraction_of_attainable",
    ):
        assert row[name] is None


def test_a_failed_row_has_its_reason_and_no_numbers() -> None:
    row = result_of(ended("naive", Status.FAILED, "row 3: got 0, expected 0.25"))
    assert row["status"] == "failed"
    assert row["reason"] == "row 3: got 0, expected 0.25"
    assert row["bytes"] is row["flops"] is row["intensity"] is row["bound"] is None


def test_times_of_a_row_that_failed_get_no_numbers() -> None:
    """Should such a row exist, its raw times are kept and nothing is made of them."""
    bad = replace(measured("naive", 1e-3, 1e-3), status=Status.FAILED, reason="wrong")
    hot = result_of(bad)["time"]["hot"]
    assert hot["samples"] == 11
    assert hot["median_s"] is None
    assert hot["achieved_bytes_per_s"] is None


def test_hot_alone_is_named_as_the_state() -> None:
    row = replace(measured("naive", 1e-3, 1e-3), times={CacheState.HOT: times(1e-3, "graph")})
    assert result_of(row)["cache_state"] == "hot"


def test_an_unknown_roof_gives_no_fractions() -> None:
    run = run_of(measured("naive", 1e-3, 1e-3), card=replace(CARD, bandwidths={}, peaks={}))
    (row,) = document(run)["results"]
    assert row["achieved_bytes_per_s"] is not None
    for name in ("fraction_of_bandwidth", "fraction_of_peak", "time_bound_s", "bandwidth_ceiling"):
        assert row[name] is None
    assert row["placement_notes"]


def test_a_derived_number_that_overflows_is_refused_by_name() -> None:
    tiny = replace(times(1e-308, "graph"), resolution_s=0.0)
    row = replace(measured("naive", 1e-3, 1e-3), times={CacheState.HOT: tiny})
    with pytest.raises(UsageError, match=r"results\[0\]\.time\.hot\.achieved_bytes_per_s: got inf"):
        document(run_of(row))


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=100)
@given(runs)
def test_the_document_of_any_run_is_json_and_gives_the_run_back(run: Run) -> None:
    try:
        text = json.dumps(document(run), allow_nan=False)
    except UsageError as error:
        assume("expected a finite number" not in str(error))  # an overflow, refused by name
        raise
    assert decode_run(json.loads(text), samples_of(run), path="x") == run
