"""nvprof --csv: summaries, GPU traces and metric tables -> imported measurements.

nvprof prints in the C locale. Its units are binary: 1.003906 KB are 1028 bytes. Lines that begin
with "==" are its own remarks. Copies, fills and API calls are no kernels and are passed over.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rooflens.analysis.readers.kernel_names import short_name
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.reported import Report, ReportedDevice, Source
from rooflens.terms import Basis, CacheState, MemoryLevel, Status

TOOL = "nvprof"

_SUMMARY = ("Time", "Calls", "Avg", "Min", "Max", "Name")
_TRACE = ("Start", "Duration", "Grid X", "Block X", "Name")
_METRICS = ("Device", "Kernel", "Invocations", "Metric Name", "Avg")
_MARKS = ('"Avg"', '"Grid X"')
_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
_BYTES = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?)\s*([A-Za-z/%]*)")
_DEVICE = re.compile(r"(.+?) \((\d{1,4})\)")
_SECTOR_BYTES = 32
_FLOPS = {
    "flop_count_sp": Precision.FP32,
    "flop_count_dp": Precision.FP64,
    "flop_count_hp": Precision.FP16,
}
_UNTIMED = "a table of metrics holds no times"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A header's columns by place, its units where it has a row of them, and its rows."""

    names: Mapping[str, int]
    units: tuple[str, ...] | None
    rows: tuple[tuple[int, list[str]], ...]


def is_nvprof(text: str) -> bool:
    """Whether a table of nvprof's stands in the text."""
    if not any(mark in text for mark in _MARKS):
        return False
    return any(_header(line) is not None for line in text.splitlines())


def read_nvprof_csv(text: str, *, name: str) -> ReportFile:
    """The kernels of all tables in a file. DataFormatError names a line that cannot be read."""
    rows: list[Measurement] = []
    cards: dict[str, ReportedCard] = {}
    for kind, table in _tables(text, name):
        for one in _READERS[kind](table, name):
            rows.append(one)
            card = None if one.report is None else one.report.device.name
            if card is not None:
                cards[card] = ReportedCard(name=card, attributes={})
    if not rows:
        raise DataFormatError("tables of nvprof without a kernel", path=name)
    return ReportFile(
        measurements=tuple(rows), cards=tuple(cards.values()), notes=("written by nvprof",)
    )


def _header(line: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """(kind, names) of a header line, or None."""
    if "Name" not in line:
        return None
    names = next(csv.reader([line.lstrip("\ufeff")]), [])
    for kind in (_TRACE, _METRICS, _SUMMARY):
        if set(kind) <= set(names):
            return kind, tuple(names)
    return None


def _tables(text: str, path: str) -> Iterator[tuple[tuple[str, ...], _Table]]:
    lines = list(enumerate(text.splitlines(), 1))
    starts = [place for place, (_, line) in enumerate(lines) if _header(line) is not None]
    for place, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        found = _header(lines[place][1])
        if found is None:
            continue
        kind, names = found
        rows = [
            (number, next(csv.reader([line])))
            for number, line in lines[place + 1 : end]
            if line.strip() and not line.startswith("==")
        ]
        units: tuple[str, ...] | None = None
        if kind is not _METRICS and rows:
            units = tuple(rows.pop(0)[1])
        columns = {column: index for index, column in enumerate(names)}
        whole = tuple(_whole_rows(rows, len(names), path))
        yield kind, _Table(names=columns, units=units, rows=whole)


def _whole_rows(
    rows: list[tuple[int, list[str]]], width: int, path: str
) -> Iterator[tuple[int, list[str]]]:
    """Rows as wide as the header; other lines are the program's own, unless they are like rows."""
    for number, cells in rows:
        if len(cells) == width:
            yield number, cells
        elif len(cells) > width // 2:
            raise DataFormatError(
                f"got {len(cells)} cells, expected {width} as in the header", path=path, line=number
            )


def _read_summary(table: _Table, path: str) -> Iterator[Measurement]:
    for line, cells in table.rows:
        kind = cells[table.names["Type"]] if "Type" in table.names else "GPU activities"
        kernel = cells[table.names["Name"]]
        if kind != "GPU activities" or kernel.startswith("[CUDA"):
            continue
        calls = _count(cells[table.names["Calls"]], path, line, "Calls")
        mean, least, most = (
            _time(cells, table, column, path, line) for column in ("Avg", "Min", "Max")
        )
        alone = calls <= 2 or least == most
        report = Report(
            kernel_name=kernel,
            source=Source(file=path, row=line, tool=TOOL),
            launches=calls,
            mean_time_s=None if alone else mean,
            absent={"dram bytes": "a summary of times holds none", **_no_flops()}
            | ({} if alone else {"time": f"the mean of {calls} launches, not their median"}),
        )
        yield _measurement(report, mean if alone else None)


def _read_trace(table: _Table, path: str) -> Iterator[Measurement]:
    def cell(cells: list[str], column: str) -> str:
        return cells[table.names[column]] if column in table.names else ""

    for line, cells in table.rows:
        kernel = cell(cells, "Name")
        if kernel.startswith("[CUDA") or not cell(cells, "Grid X"):
            continue
        x, y, z = (_count(cell(cells, f"Grid {axis}"), path, line, "Grid") for axis in "XYZ")
        bx, by, bz = (_count(cell(cells, f"Block {axis}"), path, line, "Block") for axis in "XYZ")
        registers = cell(cells, "Registers Per Thread")
        report = Report(
            kernel_name=_without_id(kernel),
            source=Source(file=path, row=line, tool=TOOL),
            device=_device(cell(cells, "Device")),
            grid=(x, y, z),
            block=(bx, by, bz),
            registers=_count(registers, path, line, "Registers") if registers else None,
            static_shared_bytes=_size(cells, table, "Static SMem", path, line),
            dynamic_shared_bytes=_size(cells, table, "Dynamic SMem", path, line),
            context=cell(cells, "Context") or None,
            stream=cell(cells, "Stream") or None,
            absent={"dram bytes": "a trace of times holds none", **_no_flops()},
        )
        yield _measurement(report, _time(cells, table, "Duration", path, line))


def _read_metrics(table: _Table, path: str) -> Iterator[Measurement]:
    """A row for each kernel on each device, of the means over its launches."""
    kernels: dict[tuple[str, str], dict[str, tuple[float, str, int]]] = {}
    calls: dict[tuple[str, str], int] = {}
    for line, cells in table.rows:
        key = (cells[table.names["Device"]], cells[table.names["Kernel"]])
        found = _NUMBER.match(cells[table.names["Avg"]].strip())
        calls.setdefault(key, _count(cells[table.names["Invocations"]], path, line, "Invocations"))
        metrics = kernels.setdefault(key, {})
        if found is not None:
            metrics[cells[table.names["Metric Name"]]] = (float(found[1]), found[2], line)
    for (device, kernel), metrics in kernels.items():
        flops = {
            precision: metrics[metric][0]
            for metric, precision in _FLOPS.items()
            if metric in metrics
        }
        read, write = _dram(metrics, "read"), _dram(metrics, "write")
        moved = None if read is None or write is None else read + write
        fractions = {}
        if "achieved_occupancy" in metrics:
            fractions["achieved_occupancy"] = metrics["achieved_occupancy"][0]
        missing = {
            f"{precision} FLOP": "the report holds no metric of it"
            for precision in _FLOPS.values()
            if precision not in flops
        }
        if moved is None:
            missing["dram bytes"] = "the report holds no count of them"
        report = Report(
            kernel_name=kernel,
            source=Source(
                file=path, row=min((one[2] for one in metrics.values()), default=1), tool=TOOL
            ),
            device=_device(device),
            launches=calls[(device, kernel)],
            traffic_bytes={} if moved is None else {MemoryLevel.DRAM: moved},
            dram_read_bytes=read,
            dram_write_bytes=write,
            flops=flops,
            fractions=fractions,
            absent={"time": _UNTIMED, **missing},
        )
        yield _measurement(report, None)


_READERS = {_SUMMARY: _read_summary, _TRACE: _read_trace, _METRICS: _read_metrics}


def _dram(metrics: Mapping[str, tuple[float, str, int]], way: str) -> float | None:
    """Bytes by their counter, or by transactions of 32 bytes."""
    if f"dram_{way}_bytes" in metrics:
        return metrics[f"dram_{way}_bytes"][0]
    if f"dram_{way}_transactions" in metrics:
        return metrics[f"dram_{way}_transactions"][0] * _SECTOR_BYTES
    return None


def _no_flops() -> dict[str, str]:
    return {f"{one} FLOP": "a table of times holds none" for one in _FLOPS.values()}


def _measurement(report: Report, time_s: float | None) -> Measurement:
    times = {}
    if time_s is not None:
        times[CacheState.REPORTED] = TimeSamples(
            samples_s=(time_s,),
            method="duration, as nvprof reports it",
            launches_per_sample=1,
            correction_s=0.0,
            resolution_s=1e-9,
            stopped_by="report",
        )
    return Measurement(
        kernel=short_name(report.kernel_name),
        status=Status.OK,
        basis=Basis.IMPORTED,
        times=times,
        report=report,
    )


def _device(text: str) -> ReportedDevice:
    found = _DEVICE.fullmatch(text.strip())
    if found is None:
        return ReportedDevice(name=text.strip() or None)
    return ReportedDevice(name=found[1], index=int(found[2]))


def _without_id(kernel: str) -> str:
    """A trace adds the correlation number: "scale(float*) [123]"."""
    return re.sub(r" \[\d+\]$", "", kernel)


def _time(cells: list[str], table: _Table, column: str, path: str, line: int) -> float:
    place = table.names[column]
    unit = "" if table.units is None or place >= len(table.units) else table.units[place]
    if unit not in _PER_SECOND:
        raise DataFormatError(
            f"got unit {unit[:20]!r}, expected one of {', '.join(_PER_SECOND)}",
            path=path,
            line=line,
            field=column,
        )
    return _plain(cells[place], path, line, column) / _PER_SECOND[unit]


def _size(cells: list[str], table: _Table, column: str, path: str, line: int) -> int | None:
    place = table.names.get(column)
    if place is None or not cells[place] or table.units is None:
        return None
    unit = table.units[place] if place < len(table.units) else ""
    if unit not in _BYTES:
        raise DataFormatError(
            f"got unit {unit[:20]!r}, expected one of {', '.join(_BYTES)}",
            path=path,
            line=line,
            field=column,
        )
    return round(_plain(cells[place], path, line, column) * _BYTES[unit])


def _plain(text: str, path: str, line: int, column: str) -> float:
    found = _NUMBER.fullmatch(text.strip())
    if found is None or found[2] or len(text) > 40:
        raise DataFormatError(
            f"got {text[:60]!r}, expected a number", path=path, line=line, field=column
        )
    return float(found[1])


def _count(text: str, path: str, line: int, column: str) -> int:
    value = _plain(text, path, line, column)
    if value < 1 or value != int(value) or value > 2**53:
        raise DataFormatError(
            f"got {text[:60]!r}, expected a whole number of at least 1",
            path=path,
            line=line,
            field=column,
        )
    return int(value)
