"""The command line as a user meets it: output, exit codes, one clear line for each mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rooflens.cli.main import main
from rooflens.cli.options import parse_size
from rooflens.errors import UsageError
from rooflens.store import read_run

SMALL = ("--device", "none", "--size", "rows=3,cols=1023")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.usefixtures("nvrtc")
def test_run_models_and_stores_without_a_gpu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "my rüns"
    code, stdout, stderr = run(
        capsys, "run", "softmax", *SMALL, "--out", str(out), "--format", "json"
    )
    assert code == 0
    document = json.loads(stdout)  # JSON alone
    assert [row["variant"] for row in document["results"]][-1] == "cached"
    for row in document["results"]:
        assert row["status"] == "ok"
        assert row["basis"] == "modelled"
        assert not row["time"]
        assert row["verification"] is None
        assert row["resources"]["registers"] > 0
        assert row["bytes"]["compulsory"] == 2 * 3 * 1023 * 4
        assert row["achieved_bytes_per_s"] is None
        # 24552 bytes at 1008 GB/s
        assert row["time_bound_s"] == pytest.approx(24_552 / 1008e9)
    (folder,) = out.iterdir()
    assert str(folder) in stderr
    assert read_run(folder).device_kind == "model"

    code, shown, _ = run(capsys, "show", str(folder), "--format", "json")
    assert code == 0
    assert json.loads(shown)["results"] == document["results"]


@pytest.mark.usefixtures("nvrtc")
def test_run_prints_a_table_and_where_the_run_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, stdout, _ = run(capsys, "run", "softmax.naive", *SMALL, "--out", str(tmp_path))
    assert code == 0
    assert "softmax.naive" in stdout
    assert "modelled" in stdout
    (folder,) = tmp_path.iterdir()
    assert f"run written to {folder}" in stdout


def test_a_run_in_which_nothing_could_run_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("run", "softmax", *SMALL, "--dtype", "int32", "--out", str(tmp_path))
    code, stdout, stderr = run(capsys, *arguments)
    assert code == 2
    assert "has no int32 version" in stdout
    assert "every row was skipped" in stderr


def test_a_closed_stdout_is_no_traceback() -> None:
    code = "sys.stdout = None\nfrom rooflens.cli.main import main\nsys.exit(main(['kernels']))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("nvrtc")
def test_csv_has_a_row_a_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(capsys, "run", "softmax", *SMALL, "--out", str(tmp_path))
    code, stdout, _ = run(capsys, "show", str(tmp_path), "--format", "csv")
    assert code == 0
    assert len(stdout.splitlines()) == 1 + 7


def test_kernels_lists_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    code, stdout, _ = run(capsys, "kernels", "--format", "json")
    assert code == 0
    kernels = json.loads(stdout)["kernels"]
    naive = next(one for one in kernels if one["kernel"] == "softmax.naive")
    assert naive["sizes"]["seed"] == [{"rows": 128, "cols": 4096}]
    assert naive["dtypes"][0] == "float32"
    assert run(capsys, "kernels")[1].count("softmax.") == 7


def test_devices_shows_the_default_cards_ridge(capsys: pytest.CaptureFixture[str]) -> None:
    code, stdout, _ = run(capsys, "devices")
    assert code == 0
    line = next(line for line in stdout.splitlines() if line.startswith("GeForce RTX 4090"))
    for part in ("8.9", "128", "1.01 TB/s", "82.6 TFLOP/s", "81.9"):
        assert part in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "softmax.niave", "--device", "none"), "did you mean softmax.naive"),
        (("run", "--size", "rows=0,cols=4", "--device", "none"), "rows must be from 1"),
        (("run", "--size", "rows=-3,cols=4", "--device", "none"), "rows must be from 1"),
        (("run", "--size", "rows=x,cols=4", "--device", "none"), "whole number, got 'x'"),
        (("run", "--size", "rows=4", "--device", "none"), "softmax: rows, cols"),
        (("run", "--device", "none", "--target", "RTX 9090"), "RTX 9090"),
        (("run", "--device", "gpu"), "auto, none or a card's number"),
        (("run", "--device", "0", "--target", "L4"), "a real one"),
        (("run", "--set", "seeds", "--device", "none"), "did you mean seed"),
        (("run", "--cache", "warm", "--device", "none"), "hot, cold, both"),
        (("run", "--dtype", "float23", "--device", "none"), "did you mean float32"),
        (
            ("run", "--size", "rows=1000000,cols=1000000", "--device", "none"),
            "8000008000000 bytes) of device memory",
        ),
        (("show", "no such run"), "no such run"),
        (
            ("run", "--set", "all", "--size", "rows=1,cols=1", "--device", "none"),
            "give one of them",
        ),
        (("run", "--device", "none", "--target", ""), "card ''"),
        (("run", "--device", "none", "--out", ""), "--out names no folder"),
        (("run", "--no-such-option"), "--no-such-option"),
        (("no-such-command",), "no-such-command"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, stdout, stderr = run(capsys, *arguments)
    assert code == 2
    assert stdout == ""
    (line,) = stderr.splitlines()
    assert line.startswith("rooflens: ")
    assert said in line


def test_a_card_that_is_not_there_is_exit_code_3_with_a_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, stdout, stderr = run(capsys, "run", "softmax.naive", "--device", "9999")
    assert code == 3
    assert stdout == ""
    assert "to mend it" in stderr


def test_an_unwritable_folder_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    code, stdout, stderr = run(
        capsys, "run", "softmax.naive", *SMALL, "--out", str(in_the_way / "runs")
    )
    assert code == 2
    assert stdout == ""
    assert "cannot write runs" in stderr
    assert len(stderr.splitlines()) == 1


def test_a_corrupt_run_is_refused_with_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text('{"schema_version": 1, "device"')
    code, stdout, stderr = run(capsys, "show", str(tmp_path))
    assert code == 2
    assert stdout == ""
    assert "run.json" in stderr
    assert len(stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("rows=1,cols=2", {"rows": 1, "cols": 2}),
        (" cols = 7 ", {"cols": 7}),
        ("rows=-1", {"rows": -1}),
    ],
)
def test_sizes(text: str, size: dict[str, int]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "rows", "rows=", "=3", "rows=1,", "rows=1,rows=2", "rows=1.0", "rows=0x10", "rows=٣"],
)
def test_sizes_that_are_not(text: str) -> None:
    with pytest.raises(UsageError, match="--size"):
        parse_size(text)


def test_the_package_is_light_and_needs_no_cuda() -> None:
    code = (
        "import sys, rooflens\n"
        "heavy = {'numpy', 'cuda', 'pyarrow', 'rich', 'typer'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rooflens", "show", "h200"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "rooflens: cannot write the output: No space left on device"
    ]


def test_a_reader_that_leaves_is_no_failed_kernel() -> None:
    script = f"{sys.executable} -m rooflens show h200 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() in ("0", "141")  # 141: ended by SIGPIPE
    assert done.stderr == ""
