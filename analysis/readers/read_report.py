"""Any tool's report: told apart by what is in the file, never by its name."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from rooflens.analysis.readers.decoding import decode_report
from rooflens.analysis.readers.locale_numbers import DecimalMark
from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.nvprof_csv import is_nvprof, read_nvprof_csv
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.errors import DataFormatError, NotAvailableError

MAX_FILE_BYTES = 2_000_000_000
_EXPORT_LIMIT_S = 900
_RAW_PAGE = ("--csv", "--page", "raw", "--print-units", "base")

_NCU_REPORT = b"NVR\x00"
_REFUSED = (
    (b"\x1f\x8b", "gzip-compressed data; unpack it first"),
    (b"PK\x03\x04", "a zip archive, or a spreadsheet; unpack it, or save it as CSV"),
    (b"SQLite format 3\x00", "an SQLite database, which this version does not read"),
    (b"\x28\xb5\x2f\xfd", "Zstandard-compressed data; unpack it first"),
    (b"%PDF", "a PDF document; export the report as CSV"),
)


def read_report(path: Path, *, decimal: DecimalMark | None = None) -> ReportFile:
    """The launches in a file of another tool.

    Reads Nsight Compute's CSV exports, its .ncu-rep files where the user's own ncu is there to
    export them, and nvprof's CSV. decimal: how numbers are written, where the file does not tell.
    DataFormatError says where a file cannot be read and what it is instead; NotAvailableError what
    is missing.
    """
    data = _contents(path)
    if data.startswith(_NCU_REPORT):
        data = _exported(path)
    for magic, what in _REFUSED:
        if data.startswith(magic):
            raise DataFormatError(what, path=path.name)
    decoded = decode_report(data)
    if is_nvprof(decoded.text):
        return read_nvprof_csv(decoded.text, name=path.name)
    return read_ncu_csv(decoded, name=path.name, decimal=decimal)


def _contents(path: Path) -> bytes:
    try:
        if not path.is_file():
            what = (
                "a folder" if path.is_dir() else "not a file" if path.exists() else "no such file"
            )
            raise DataFormatError(what, path=str(path))
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataFormatError(f"cannot be read: {reason}", path=str(path)) from error
    if len(data) > MAX_FILE_BYTES:
        raise DataFormatError(
            f"larger than the {MAX_FILE_BYTES} bytes that are read; export fewer launches at a "
            "time, with --kernel-name or --launch-count",
            path=path.name,
        )
    return data


def _exported(path: Path) -> bytes:
    """The raw page of a report file, by the user's own ncu."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NotAvailableError(
            f"{path.name} is Nsight Compute's own format, which only its ncu can open, and ncu is "
            "not on this machine's PATH",
            hint=f"where ncu is, run: {_export_command(path)}",
        )
    command = [ncu, "--import", str(path.resolve()), *_RAW_PAGE]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=_EXPORT_LIMIT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataFormatError(f"ncu could not export it: {error}", path=path.name) from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
        last = said[-1][:200] if said else f"exit code {done.returncode}"
        raise DataFormatError(f"ncu could not export it: {last}", path=path.name)
    return done.stdout


def _export_command(path: Path) -> str:
    """The one line that makes a CSV of a report file."""
    command = shlex.join(["ncu", "--import", path.name, *_RAW_PAGE])
    return f"{command} > {shlex.quote(path.with_suffix('.csv').name)}"
