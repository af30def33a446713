"""`rooflens import` as a user meets it: real exports in, a stored run and a table out."""

import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from rooflens.cli.main import main
from rooflens.store import read_run
from tests.analysis.readers.exports import expected, export, listed, raw

TIME = ("gpu__time_duration.sum", "ns", "42,496")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def imported(
    capsys: pytest.CaptureFixture[str], folder: Path, data: bytes, *arguments: str
) -> dict[str, Any]:
    """The document of a file that is imported."""
    file = folder / "report.txt"
    file.write_bytes(data)
    code, out, err = run(
        capsys, "import", str(file), "--out", str(folder / "runs"), "--format", "json", *arguments
    )
    assert code == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


def test_a_raw_export_becomes_a_run_with_every_number(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = imported(capsys, tmp_path, export("h200_raw_base_units"))
    assert document["device"]["name"] == "NVIDIA H200"
    assert document["device"]["kind"] == "report"
    for result, right in zip(document["results"], expected(), strict=True):
        assert result["basis"] == "imported"
        assert result["kernel_name"].startswith(right["kernel"])
        assert result["time"]["reported"]["median_s"] == right["duration_ns"] / 1e9
        assert result["time"]["reported"]["samples"] == 1
        assert result["bytes"]["dram"] == right["dram_bytes"]
        assert result["bytes"]["l2"] == pytest.approx(right["l2_bytes"], rel=1e-9)
        assert result["flops"]["fp32"] == pytest.approx(right["fp32_flops"], rel=1e-2)
        assert f"({', '.join(map(str, result['launch']['grid']))})" == right["grid"]
        assert f"({', '.join(map(str, result['launch']['block']))})" == right["block"]
        assert result["resources"]["registers"] == right["registers"]
        assert result["source"] == {
            "file": "report.txt",
            "row": right["id"] + 3,
            "tool": "Nsight Compute",
            "tool_version": None,
        }
    gemm = document["results"][11]
    assert gemm["tensor_ops"]["fp16"] == 137_438_953_472
    assert gemm["bound"] == "compute"


def test_the_run_can_be_shown_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = imported(capsys, tmp_path, export("h200_raw_base_units"))
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(read_run(folder).measurements) == 24
    _, shown, _ = run(capsys, "show", str(folder), "--format", "json")
    assert json.loads(shown)["results"] == document["results"]
    _, table, _ = run(capsys, "show", str(folder))
    assert "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT" in table
    assert "reported" in table
    for absent in ("check", "spill"):
        assert absent not in table.split("───")[0]
    _, text, _ = run(capsys, "show", str(folder), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert float(rows[0]["dram_bytes"]) == expected()[0]["dram_bytes"]
    assert rows[0]["grid"] == "1056 x 1 x 1"


def test_without_a_card_there_are_no_roofs_and_the_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = imported(capsys, tmp_path, export("h200_details"))
    assert document["device"]["name"] is None
    assert {row["fraction_of_bandwidth"] for row in document["results"]} == {None}
    assert {row["intensity"] for row in document["results"]} == {None}
    assert any("--gpu CARD" in note for note in document["provenance"]["notes"])
    held = imported(capsys, tmp_path, export("h200_details"), "--gpu", "H200")
    assert all(row["fraction_of_bandwidth"] is not None for row in held["results"])
    assert {row["bound"] for row in held["results"]} == {None}


def test_several_files_make_one_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = []
    for name in ("h200_live_metrics", "h200_live_stdout_mixed"):
        file = tmp_path / f"{name}.csv"
        file.write_bytes(export(name))
        files.append(str(file))
    code, out, _ = run(
        capsys, "import", *files, "--out", str(tmp_path / "runs"), "--format", "json"
    )
    assert code == 0
    sources = [row["source"]["file"] for row in json.loads(out)["results"]]
    assert sources == ["h200_live_metrics.csv"] * 3 + ["h200_live_stdout_mixed.csv"] * 27


def test_an_ambiguous_number_needs_the_user(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = listed(("gpu__time_duration.sum", "usecond", "117.344")).encode()
    file = tmp_path / "report.csv"
    file.write_bytes(table)
    code, _, err = run(capsys, "import", str(file), "--out", str(tmp_path / "runs"))
    assert code == 2
    assert "report.csv:2: gpu__time_duration.sum: decimal mark or thousands separator?" in err
    document = imported(capsys, tmp_path, table, "--decimal", "comma")
    assert document["results"][0]["time"]["reported"]["median_s"] == pytest.approx(117_344e-6)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04rest", "a zip archive"),
        (b"", "no table of Nsight Compute"),
        (bytes(range(256)) * 64, "no table of Nsight Compute"),
        (b"\x00" * 4096, "no table of Nsight Compute"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes, said: str
) -> None:
    file = tmp_path / "report.csv"
    file.write_bytes(data)
    code, out, err = run(capsys, "import", str(file), "--out", str(tmp_path / "runs"))
    assert code == 2
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_what_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, said in (
        ("missing.csv", "no such file"),
        (".", "a folder"),
        ("a\0b", "no such file"),
    ):
        code, _, err = run(capsys, "import", str(tmp_path / name), "--out", str(tmp_path / "runs"))
        assert code == 2
        assert said in err
    code, _, err = run(capsys, "import", "--out", str(tmp_path))
    assert code == 2
    assert "import needs a file" in err


def test_a_report_of_ncu_s_own_format_needs_ncu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "my run.ncu-rep"
    file.write_bytes(b"NVR\x00whatever")
    code, _, err = run(capsys, "import", str(file), "--out", str(tmp_path / "runs"))
    assert code == 3
    assert "ncu --import 'my run.ncu-rep' --csv --page raw --print-units base > 'my run.csv'" in err


def test_a_report_of_ncu_s_own_format_is_exported_by_the_user_s_ncu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for ncu that prints what the real one printed, and refuses other arguments."""
    exported = tmp_path / "exported.csv"
    exported.write_bytes(export("h200_raw_base_units"))
    ncu = tmp_path / "ncu"
    ncu.write_text(
        "#!/bin/sh\n"
        'test "$1" = --import && test "$3 $4 $5 $6 $7" = "--csv --page raw --print-units base" '
        f'|| {{ echo "bad arguments: $*" >&2; exit 3; }}\n/bin/cat "{exported}"\n'
    )
    ncu.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    document = imported(capsys, tmp_path, b"NVR\x00whatever")
    assert len(document["results"]) == 24
    ncu.write_text("#!/bin/sh\necho 'file is of a later version'\nexit 1\n")
    code, _, err = run(
        capsys, "import", str(tmp_path / "report.txt"), "--out", str(tmp_path / "runs")
    )
    assert code == 2
    assert "ncu could not export it: file is of a later version" in err


def test_a_hostile_name_is_neutral_in_the_table_and_in_a_spreadsheet(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    launch = ("0", "100", "x", "h", '=cmd()|"!A1\x1b[31m', "1", "7")
    imported(capsys, tmp_path, raw(TIME, launch=launch).encode())
    (folder,) = (tmp_path / "runs").iterdir()
    _, table, _ = run(capsys, "show", str(folder))
    assert "\x1b" not in table
    _, text, _ = run(capsys, "show", str(folder), "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["kernel"].startswith("'=")
    assert row["kernel_name"].startswith("'=")


def test_ncu_command_prints_one_line_for_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "ncu-command", "--report", "my run.csv", "--", "python", "a b.py")
    assert code == 0
    assert out.count("\n") == 1
    words = shlex.split(out)
    assert words[:2] == ["LC_ALL=C", "ncu"]
    assert words[-2:] == ["python", "a b.py"]
    assert "my run.csv" in words
    code, _, err = run(capsys, "ncu-command")
    assert code == 2
    assert "needs the program to profile" in err


def test_group_makes_one_row_of_a_kernel_s_launches(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    apart = imported(capsys, tmp_path, export("h200_live_stdout_mixed"))
    together = imported(capsys, tmp_path, export("h200_live_stdout_mixed"), "--group")
    launches = [row["report"]["launches"] for row in together["results"]]
    assert len(launches) < len(apart["results"])
    assert sum(launches) == len(apart["results"]) == 27
    assert sum(row["time"]["reported"]["samples"] for row in together["results"]) == 27


def test_a_source_page_of_another_file_tells_its_launches_operations(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    launches = b"".join(
        listed(
            TIME, launch=(str(place), "100", "app", "h", f"{kernel}(float *, int)", "1", "7")
        ).encode()
        for place, kernel in enumerate(("scale", "strided", "scale"))
    )
    for name, data in (("a.csv", launches), ("b.csv", export("h200_source_three_kernels"))):
        (tmp_path / name).write_bytes(data)
    code, out, _ = run(
        capsys, "import", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"),
        "--out", str(tmp_path / "runs"), "--format", "json",
    )  # fmt: skip
    assert code == 0
    rows = json.loads(out)["results"]
    assert [row["flops"]["fp32"] for row in rows] == [2 * 2**24, 2**19, 2 * 2**14]
    assert {row["time"]["reported"]["median_s"] for row in rows} == {42.496e-6}
