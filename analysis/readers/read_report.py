"""Any tool's report: told apart by what is in the file, never by its name."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from rooflens.analysis.readers.bounded_file import open_bounded
from rooflens.analysis.readers.decoding import decode_report
from rooflens.analysis.readers.locale_numbers import DecimalMark
from rooflens.analysis.readers.ncu_columns import read_columns
from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.ncu_source import join_sources
from rooflens.analysis.readers.nsys_sqlite import read_nsys_sqlite
from rooflens.analysis.readers.nvprof_csv import is_nvprof, read_nvprof_csv
from rooflens.analysis.readers.pytorch_trace import read_pytorch_trace
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.errors import DataFormatError, NotAvailableError
from rooflens.measurement import Measurement

_EXPORT_LIMIT_S = 900
_RAW_PAGE = ("--csv", "--page", "raw", "--print-units", "base")

_NCU_REPORT = b"NVR\x00"
_SQLITE = b"SQLite format 3\x00"
_BLANK = b"\xef\xbb\xbf \t\r\n"
_REFUSED = (
    (b"PK\x03\x04", "a zip archive, or a spreadsheet; unpack it, or save it as CSV"),
    (b"\x28\xb5\x2f\xfd", "Zstandard-compressed data; unpack it first"),
    (b"%PDF", "a PDF document; export the report as CSV"),
)


def read_report(path: Path, *, decimal: DecimalMark | None = None) -> ReportFile:
    """The launches in a file of another tool, which may be gzip-compressed.

    Reads Nsight Compute's CSV exports, its .ncu-rep files where the user's own ncu is there to
    export them, nvprof's CSV, SQLite exports of Nsight Systems, and traces of the PyTorch profiler.
    decimal: how numbers are written, where the file does not tell. DataFormatError says where a
    file cannot be read and what it is instead; NotAvailableError what is missing.
    """
    name = path.name
    with open_bounded(path) as file:
        start = file.peek_start()
        for magic, what in _REFUSED:
            if start.startswith(magic):
                raise DataFormatError(what, path=name)
        if start.startswith(_SQLITE):
            if file.compressed:
                raise DataFormatError("a compressed SQLite database; unpack it first", path=name)
            return read_nsys_sqlite(path)
        if start.lstrip(_BLANK).startswith((b"{", b"[")):
            return read_pytorch_trace(file, name=name)
        if (plain := read_columns(path, decimal=decimal)) is not None:
            return plain
        data = _exported(path) if start.startswith(_NCU_REPORT) else file.read_all()
    decoded = decode_report(data)
    if is_nvprof(decoded.text):
        return read_nvprof_csv(decoded.text, name=name)
    return read_ncu_csv(decoded, name=name, decimal=decimal)


def launches_of(files: Iterable[ReportFile]) -> tuple[Measurement, ...]:
    """The launches of several files, with what the source pages among them tell of them."""
    every = tuple(files)
    launches = [one for file in every for one in file.measurements]
    return join_sources(launches, [page for file in every for page in file.pages])


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
