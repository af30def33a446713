"""`ladder`, `show --launches` and `decode-cost` as a user meets them."""

import csv
import io
import json
from pathlib import Path

import pytest

from rooflens.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(autouse=True)
def no_stored_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROOFLENS_DATA_DIR", str(tmp_path))


def test_a_ladder_is_that_of_the_recorded_run_where_none_is_stored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "ladder", "softmax")
    assert code == 0
    assert "NVIDIA H200, run h200" in out
    assert "the row kept in shared memory: x is read once" in out
    code, text, _ = run(capsys, "ladder", "softmax", "h200", "--format", "json")
    document = json.loads(text)
    first = document["ladders"][0]["rungs"][0]
    assert code == 0
    assert first["kernel"] == "softmax.unfused"
    assert first["speed_up"] == 1.0
    for one in document["ladders"]:
        for rung in one["rungs"]:
            base = one["rungs"][0]["median_s"]
            assert rung["speed_up"] == pytest.approx(base / rung["median_s"])


def test_a_ladder_as_csv_has_a_row_for_each_rung(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = run(capsys, "ladder", "softmax", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["family"] for row in rows} == {"softmax"}
    assert len(rows) % 7 == 0
    assert float(rows[0]["median_s"]) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ladder",), "ladder takes a family and, if you like, a run, got 0 names"),
        (("ladder", "a", "b", "c"), "got 3 names"),
        (("ladder", "sofmax"), "did you mean softmax"),
        (("ladder", "softmax", "nowhere"), "unknown run 'nowhere'"),
        (("ladder", "--seeds", "a", "b"), "takes one run at most, got 2 names"),
        (("decode-cost", "--parameters", "nan"), "--layers"),
    ],
)
def test_mistakes_are_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert message.lower() in err.lower()
    assert not out


def test_seeds_mark_what_only_a_cache_explains(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "ladder", "--seeds", "--format", "json")
    assert code == 0
    rows = {row["kernel"]: row for row in json.loads(text)["ladders"]}
    assert rows["rope.naive"]["there"]["only_a_cache_explains_it"]
    assert not rows["softmax.naive"]["there"]["only_a_cache_explains_it"]
    code, table, _ = run(capsys, "ladder", "--seeds")
    assert code == 0
    assert "1676 *" in table


def test_launches_show_what_fusing_would_save(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "h200", "--launches")
    assert code == 0
    assert "softmax.unfused, 128 x 4096, float32: 4 launches" in out
    # One, two, one and two tensors' traffic of 2.10 MB: 12.6 MB, of which 4.19 MB are needed.
    assert "one launch would save 8.39 MB between launches, 66.7 %" in out
    _, text, _ = run(capsys, "show", "h200", "--format", "json")
    unfused = json.loads(text)["results"][0]
    # exp written once and read twice, the input read once more; maxima and sums there and back.
    assert unfused["fusion"]["between_bytes"] == 4 * 128 * 4096 * 4 + 4 * 128 * 4
    assert unfused["fusion"]["basis"] == "modelled"


MODEL = ("decode-cost", "--parameters", "8e9", "--layers", "32", "--kv-heads", "8", "--dim", "128")


def test_decode_cost_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, *MODEL, "--length", "4096", "--format", "json")
    document = json.loads(text)
    assert code == 0
    assert document["basis"] == "modelled"
    assert [step["length"] for step in document["steps"]] == [128, 256, 512, 1024, 2048, 4096]
    # 16 GB of weights and 4096 x 131072 bytes of cache at 1008 GB/s.
    assert document["steps"][-1]["time_s"] == pytest.approx((16e9 + 4096 * 131_072) / 1008e9)
    code, table, _ = run(capsys, *MODEL)
    assert "modelled: each weight once for the batch of 1" in table


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--length", "0"), "--length must be from 1"),
        (("--layers", "0"), "layers must be at least 1, got 0"),
        (("--parameters", "-1"), "must be positive, got -1 and 16"),
        (("--parameters", "inf"), "must be positive"),
        (("--cache-dtype", "float17"), "unknown dtype"),
        (("--target", "no such card"), "unknown card"),
    ],
)
def test_decode_cost_refuses_what_cannot_be(
    capsys: pytest.CaptureFixture[str], more: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, *MODEL, *more)
    assert code == 2
    assert message in err
    assert not out
