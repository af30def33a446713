"""`ladder`, `show --launches` and `decode-cost` as a user meets them."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from rooflens.cli.main import main
from rooflens.report.document import document
from rooflens.store import write_run
from tests.rooflens.examples import CARD, measured, run_of


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
    contents = json.loads(text)
    first = contents["ladders"][0]["rungs"][0]
    assert code == 0
    assert first["kernel"] == "softmax.unfused"
    assert first["speed_up"] == 1.0
    for one in contents["ladders"]:
        for rung in one["rungs"]:
            base = one["rungs"][0]["median_s"]
            assert rung["speed_up"] == pytest.approx(base / rung["median_s"])


def test_a_ladder_as_csv_has_a_row_for_each_rung(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = run(capsys, "ladder", "softmax", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["family"] for row in rows} == {"softmax"}
    assert len(rows) % 7 == 0
    assert {(row["run"], row["device"]) for row in rows} == {("h200", "NVIDIA H200")}
    assert rows[0]["speed_up_low"] == ""  # the first rung is compared with itself
    for row in rows:
        if row["kernel"] != "softmax.unfused":
            low, high = float(row["speed_up_low"]), float(row["speed_up_high"])
            assert low <= float(row["speed_up"]) <= high
    assert float(rows[0]["median_s"]) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ladder",), "ladder takes a family and, if you like, a run, got 0 names"),
        (("ladder", "a", "b", "c"), "got 3 names"),
        (("ladder", "sofmax"), "did you mean softmax"),
        (("ladder", ""), "unknown family ''"),
        (("ladder", "softmax.naive"), "did you mean softmax"),
        (("show", "h200", "--launches", "--format", "csv"), "CSV none"),
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
    rows = {row["kernel"]: row for row in json.loads(text)["seeds"]}
    assert rows["rope.naive"]["there"]["only_a_cache_explains_it"]
    assert not rows["softmax.naive"]["there"]["only_a_cache_explains_it"]
    code, table, _ = run(capsys, "ladder", "--seeds")
    assert code == 0
    assert "1675.92 *" in table


def test_launches_show_what_fusing_would_save(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "h200", "--launches")
    assert code == 0
    assert "softmax.unfused, 128 x 4096, float32: 4 launches" in out
    # One, two, one and two tensors' traffic of 2.10 MB: 12.6 MB, of which 4.19 MB are needed.
    assert "save 8.39 MB between launches (2.10 MB written, 6.29 MB read), 66.7 % of" in out
    _, text, _ = run(capsys, "show", "h200", "--format", "json")
    unfused = json.loads(text)["results"][0]
    for one in json.loads(text)["results"]:
        assert (one["fusion"] is None) == (len(one["launches"]) < 2)
    # exp written once and read twice, the input read once more; maxima and sums there and back.
    assert unfused["fusion"]["between_bytes"] == 4 * 128 * 4096 * 4 + 4 * 128 * 4
    assert unfused["fusion"]["between_write_bytes"] == 128 * 4096 * 4 + 2 * 128 * 4
    assert unfused["fusion"]["between_read_bytes"] == 3 * 128 * 4096 * 4 + 2 * 128 * 4
    # No launch of it asks for anything twice.
    assert unfused["fusion"]["over_compulsory_bytes"] == unfused["fusion"]["between_bytes"]
    assert unfused["fusion"]["bandwidth_ceiling"]["per_s"] == 4.8e12
    assert unfused["fusion"]["basis"] == "modelled"


SMALL = ("--device", "none", "--size", "rows=3,cols=1023")


@pytest.mark.usefixtures("nvrtc")
def test_a_run_of_modelled_rows_has_a_ladder_without_times(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    code, made, _ = run(
        capsys, "run", "softmax.naive", "softmax.unfused", *SMALL, "--out", str(out), "--launches"
    )
    assert code == 0
    assert "softmax.unfused, 3 x 1023, float32: 4 launches" in made
    code, text, _ = run(capsys, "ladder", "softmax", str(out))
    assert code == 0
    assert "not timed" in text
    assert "(modelled)" in text
    assert "speed-up" not in text
    _, text, _ = run(capsys, "ladder", "softmax", str(out), "--format", "json")
    (only,) = json.loads(text)["ladders"]
    assert only["cache_state"] is None
    for rung in only["rungs"]:
        assert rung["basis"] == "modelled"
        assert rung["median_s"] is None
        assert rung["speed_up"] is None
        assert rung["compulsory_bytes"] == 2 * 3 * 1023 * 4
    # It lies where stored runs are looked for, but has no times: the recorded run is taken.
    assert "run h200" in run(capsys, "ladder", "softmax")[1]


def test_a_stored_run_that_cannot_be_read_is_passed_over_with_a_remark(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = tmp_path / "runs" / "20990101T000000Z-gpu-00000000"
    broken.mkdir(parents=True)
    (broken / "run.json").write_text("{")
    code, out, err = run(capsys, "ladder", "softmax")
    assert code == 0
    assert "run h200" in out
    assert "passed over" in err
    assert broken.name in err


def stored(folder: Path) -> str:
    """The path of a run with two softmax rows at the seed size, and nothing else."""
    made = run_of(measured("naive", 8e-6, 9e-6, rows=128), measured("online", 4e-6, 5e-6, rows=128))
    return str(write_run(made, folder, document=document(made)))


def test_a_family_that_a_run_lacks_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "ladder", "rope", stored(tmp_path / "elsewhere"))
    assert code == 2
    assert not out
    assert "has no rope; it has softmax: make one with: rooflens run rope" in err
    assert len(err.splitlines()) == 1


def test_the_newest_stored_run_with_times_is_taken(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name = Path(stored(tmp_path / "runs")).name
    assert f"Example GPU, run {name}" in run(capsys, "ladder", "softmax")[1]


def test_a_seed_figure_stands_as_printed_beside_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = stored(tmp_path / "elsewhere")
    _, text, _ = run(capsys, "ladder", "--seeds", folder, "--format", "csv")
    rows = {row["kernel"]: row for row in csv.DictReader(io.StringIO(text))}
    assert len(rows) == 12
    online = rows["softmax.online"]
    assert float(online["here_hot_median_s"]) == pytest.approx(4e-6)
    assert float(online["here_ratio_to_naive"]) == pytest.approx(2)
    assert online["there_bytes_per_s"] == ""
    assert rows["rope.naive"]["here_missing"] == "not in this run"
    assert rows["rope.naive"]["here_hot_median_s"] == ""


MODEL = ("decode-cost", "--parameters", "8e9", "--layers", "32", "--kv-heads", "8", "--dim", "128")


def test_decode_cost_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, *MODEL, "--length", "4096", "--format", "json")
    contents = json.loads(text)
    assert code == 0
    assert contents["basis"] == "modelled"
    assert [step["length"] for step in contents["steps"]] == [128, 256, 512, 1024, 2048, 4096]
    # 16 GB of weights and 4096 x 131072 bytes of cache at 1008 GB/s.
    assert contents["steps"][-1]["time_s"] == pytest.approx((16e9 + 4096 * 131_072) / 1008e9)
    code, table, _ = run(capsys, *MODEL)
    assert "modelled: each weight once for the batch of 1" in table


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--length", "0"), "--length must be from 1"),
        (("--layers", "0"), "layers must be at least 1, got 0"),
        (("--parameters", "-1"), "--parameters must be from 1 to 1e+15, got -1"),
        (("--parameters", "inf"), "got inf"),
        (("--parameters", "1e308"), "got 1e+308"),
        (("--parameters", "-8e9", "--weight-bits", "-16"), "--parameters must be"),
        (("--weight-bits", "0"), "--weight-bits must be from 1 to 64, got 0"),
        (("--layers", "1" + "0" * 400), "layers must be at most 2147483647"),
        (("--target", ""), "unknown card"),
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


def test_what_a_terminal_would_obey_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "ladder", "soft\x1b[31mmax")
    assert code == 2
    assert "\x1b" not in err
    code, _, err = run(capsys, "run", "gemv", "--size", "m\x1b[31m=1,k=1")
    assert code == 2
    assert "\x1b" not in err


HOSTILE = "\x1b[31mX\x07[bold]b[/bold]\u202e\r\n=1+1"


@pytest.fixture
def hostile_run(tmp_path: Path) -> str:
    """A run whose every text from outside would command a terminal or a spreadsheet."""
    row = measured("naive", 1e-3, 1e-3)
    bad = run_of(
        replace(row, kernel=f"softmax.{HOSTILE}", variant=HOSTILE, notes=(HOSTILE,)),
        card=replace(CARD, name=HOSTILE, notes=(HOSTILE,)),
    )
    provenance = replace(bad.provenance, notes=(HOSTILE,), driver_version=HOSTILE)
    bad = replace(bad, provenance=provenance)
    folder = write_run(bad, tmp_path / "elsewhere", document=document(bad))
    return str(folder.rename(folder.parent / "na\x1bme"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "{}"),
        ("show", "{}", "--launches"),
        ("show", "{}", "--format", "csv"),
        ("show", "{}", "--format", "json"),
        ("ladder", "softmax", "{}"),
        ("ladder", "softmax", "{}", "--format", "csv"),
        ("ladder", "softmax", "{}", "--format", "json"),
        ("ladder", "gemm", "{}"),
        ("ladder", "--seeds", "{}"),
        ("ladder", "--seeds", "{}", "--format", "csv"),
        ("ladder", "--seeds", "{}", "--format", "json"),
    ],
    ids=" ".join,
)
def test_nothing_from_a_run_on_disk_commands_the_terminal(
    capsys: pytest.CaptureFixture[str], hostile_run: str, arguments: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, *(one.format(hostile_run) for one in arguments))
    assert code in (0, 2)
    assert not set(out + err) & {"\x1b", "\x07", "\u202e"}
    assert not any(line.startswith("=1+1") for line in out.splitlines())
    assert out or err


def test_a_run_without_results_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = run_of()
    name = str(write_run(empty, tmp_path / "elsewhere", document=document(empty)))
    for arguments, code, said in (
        (("show", name), 0, "no results"),
        (("show", name, "--format", "csv"), 0, "has no results, so that its CSV is empty"),
        (("show", name, "--launches"), 0, "no kernel of this run has launches"),
        (("ladder", "softmax", name), 2, "it has no results"),
    ):
        found, out, err = run(capsys, *arguments)
        assert found == code
        assert said in out + err
