"""Exports of Nsight Systems (nsys export --type sqlite): kernels' times, shapes and NVTX ranges.

Tables and columns differ from version to version, so each is looked for before it is read.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from rooflens.analysis.readers.launch_groups import Alike, grouped
from rooflens.analysis.readers.range_sweep import Range, ranges_at
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import DataFormatError
from rooflens.reported import ReportedDevice

TOOL = "Nsight Systems"
LIMIT_S = 600.0

_KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
_RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
_PUSH_POP, _START_END = 59, 60
_THREAD_BITS = 24
_NAMES = ("demangledName", "name", "shortName", "mangledName")
_NANOSECONDS = 1e9


def read_nsys_sqlite(path: Path) -> ReportFile:
    """The kernels of an export. DataFormatError says what is missing or cannot be read."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True)
    except sqlite3.Error as error:
        raise DataFormatError(f"cannot be opened: {error}", path=path.name) from error
    until = time.monotonic() + LIMIT_S
    connection.set_progress_handler(lambda: time.monotonic() > until, 100_000)
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        return _Export(connection, path.name).read()
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise DataFormatError(f"cannot be read as SQLite: {error}", path=path.name) from error
    finally:
        connection.close()


class _Export:
    """One open export."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        self._connection = connection
        self._name = name
        self._columns = {
            table: frozenset(row[1] for row in connection.execute(f'PRAGMA table_info("{table}")'))
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            if isinstance(table, str) and '"' not in table
        }

    def read(self) -> ReportFile:
        if _KERNELS not in self._columns:
            tables = ", ".join(sorted(self._columns)[:5]) or "no tables"
            raise DataFormatError(
                f"no table {_KERNELS} in it (it has {tables}): no kernels were traced, or this is "
                f"no export of {TOOL}; trace with --trace cuda",
                path=self._name,
            )
        if not {"start", "end"} <= self._columns[_KERNELS]:
            raise DataFormatError(f"{_KERNELS} has no start and end", path=self._name)
        cards = dict(self._cards())
        version = self._version()
        measurements = grouped(
            self._launches(cards),
            path=self._name,
            tool=TOOL,
            tool_version=version,
            method=f"end less start of the kernel, as {TOOL} has them",
            resolution_s=1e-9,
        )
        if not measurements:
            raise DataFormatError(f"{_KERNELS} is empty: no kernels ran", path=self._name)
        return ReportFile(
            measurements=measurements,
            cards=tuple({card.name: card for card in cards.values()}.values()),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        missing = [
            one for one in ("StringIds", _RUNTIME, "NVTX_EVENTS") if one not in self._columns
        ]
        return (f"tables that are not there: {', '.join(missing)}",) if missing else ()

    def _launches(
        self, cards: Mapping[int, ReportedCard]
    ) -> Iterator[tuple[Alike, int, float | None]]:
        texts = self._texts()
        ranges = self._ranges_by_launch(texts)
        name_column = next((one for one in _NAMES if one in self._columns[_KERNELS]), None)
        wanted = (
            "start", "end", name_column or "NULL", "gridX", "gridY", "gridZ", "blockX", "blockY",
            "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
            "deviceId", "contextId", "streamId", "globalPid", "correlationId",
        )  # fmt: skip
        for row, cells in enumerate(self._rows(_KERNELS, wanted), 1):
            start, end, name = cells[:3]
            named = texts.get(name, str(name)) if isinstance(name, int) else name
            device, context, stream, process, correlation = cells[12:]
            alike = Alike(
                kernel_name=str(named) if named else "unnamed kernel",
                grid=_triple(cells[3:6]),
                block=_triple(cells[6:9]),
                registers=_whole(cells[9]),
                static_shared_bytes=_whole(cells[10]),
                dynamic_shared_bytes=_whole(cells[11]),
                device=_device(_whole(device), cards),
                process_id=_process(process),
                context=_text(context),
                stream=_text(stream),
                ranges=ranges.get((process if isinstance(process, int) else 0, correlation), ()),
            )
            time_s = None
            if isinstance(start, int) and isinstance(end, int):
                if end < start:
                    raise DataFormatError(
                        f"a kernel ends at {end} ns, before its start at {start} ns",
                        path=self._name,
                        field=f"{_KERNELS} row {row}",
                    )
                time_s = (end - start) / _NANOSECONDS
            yield alike, row, time_s

    def _rows(self, table: str, wanted: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
        known = self._columns[table]
        picked = ", ".join(f'"{one}"' if one in known else "NULL" for one in wanted)
        yield from self._connection.execute(f'SELECT {picked} FROM "{table}" ORDER BY rowid')

    def _texts(self) -> dict[int, str]:
        if not {"id", "value"} <= self._columns.get("StringIds", frozenset()):
            return {}
        return {
            key: str(value)
            for key, value in self._rows("StringIds", ("id", "value"))
            if isinstance(key, int) and value is not None
        }

    def _ranges_by_launch(
        self, texts: Mapping[int, str]
    ) -> dict[tuple[int, object], tuple[str, ...]]:
        """NVTX ranges of the thread that launched, by process and correlation number."""
        events = self._columns.get("NVTX_EVENTS", frozenset())
        calls = self._columns.get(_RUNTIME, frozenset())
        if (
            not {"start", "end", "globalTid"} <= events
            or not {"globalTid", "correlationId"} <= calls
        ):
            return {}
        ranges: dict[int, list[Range]] = {}
        wanted = ("start", "end", "globalTid", "eventType", "text", "textId")
        for start, end, thread, kind, text, text_id in self._rows("NVTX_EVENTS", wanted):
            name = text if text else texts.get(text_id) if isinstance(text_id, int) else None
            if not (isinstance(start, int) and isinstance(end, int) and isinstance(thread, int)):
                continue
            if name and kind in (None, _PUSH_POP, _START_END):
                ranges.setdefault(thread, []).append((float(start), float(end), str(name)))
        launched: list[tuple[int, int, float]] = []
        keys: list[tuple[int, object]] = []
        for start, thread, correlation in self._rows(
            _RUNTIME, ("start", "globalTid", "correlationId")
        ):
            if isinstance(start, int) and isinstance(thread, int):
                launched.append((len(keys), thread, float(start)))
                keys.append((thread >> _THREAD_BITS << _THREAD_BITS, correlation))
        return {keys[index]: names for index, names in ranges_at(launched, ranges)}

    def _cards(self) -> Iterator[tuple[int, ReportedCard]]:
        """By the number that a process calls a device by; the first process stands for all."""
        known = self._columns.get("TARGET_INFO_GPU", frozenset())
        if not {"id", "name"} <= known:
            return
        wanted = ("id", "name", "computeMajor", "computeMinor", "smCount", "totalMemory",
                  "maxThreadsPerBlock", "maxShmemPerBlockOptin")  # fmt: skip
        gpus: dict[object, ReportedCard] = {}
        for key, name, *values in self._rows("TARGET_INFO_GPU", wanted):
            attributes = {
                entry: float(value)
                for entry, value in zip(_ATTRIBUTES, values, strict=True)
                if isinstance(value, int | float) and value > 0
            }
            if name:
                gpus[key] = ReportedCard(name=str(name), attributes=attributes)
        numbered: dict[int, ReportedCard] = {}
        if {"gpuId", "cudaId"} <= self._columns.get("TARGET_INFO_CUDA_DEVICE", frozenset()):
            for gpu, cuda in self._rows("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId")):
                if isinstance(cuda, int) and gpu in gpus:
                    numbered.setdefault(cuda, gpus[gpu])
        yield from (
            numbered or {key: one for key, one in gpus.items() if isinstance(key, int)}
        ).items()

    def _version(self) -> str | None:
        for table in ("META_DATA_EXPORT", "META_DATA_CAPTURE"):
            if {"name", "value"} <= self._columns.get(table, frozenset()):
                for name, value in self._rows(table, ("name", "value")):
                    if name in ("EXPORT_PRODUCT_VERSION", "NSIGHT_SYSTEMS_VERSION"):
                        return _text(value)
        return None


_ATTRIBUTES = (
    "compute_capability_major",
    "compute_capability_minor",
    "multiprocessor_count",
    "total_memory",
    "max_threads_per_block",
    "max_shared_memory_per_block_optin",
)


def _device(index: int | None, cards: Mapping[int, ReportedCard]) -> ReportedDevice:
    card = None if index is None else cards.get(index)
    return ReportedDevice(index=index, name=None if card is None else card.name)


def _process(number: object) -> str | None:
    """The operating system's number out of the one that is unique in the file."""
    if not isinstance(number, int):
        return None
    return str(number >> _THREAD_BITS & (1 << _THREAD_BITS) - 1)


def _triple(cells: tuple[object, ...]) -> tuple[int, int, int] | None:
    x, y, z = (_whole(one) for one in cells)
    return None if x is None or y is None or z is None else (x, y, z)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**53 else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:100]
