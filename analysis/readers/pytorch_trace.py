"""Traces of the PyTorch profiler (Kineto): kernels' times, shapes, operators and annotations."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from rooflens.analysis.readers.json_stream import JsonStream, Readable
from rooflens.analysis.readers.launch_groups import Alike, grouped
from rooflens.analysis.readers.range_sweep import Range, ranges_at
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import DataFormatError
from rooflens.reported import ReportedDevice

TOOL = "PyTorch profiler"

_EVENTS = "traceEvents"
_OPERATORS = ("cpu_op", "Operator")
_KERNELS = ("kernel", "Kernel")
_ANNOTATIONS = ("gpu_user_annotation",)
_IDS = ("External id", "external id", "External Id")
_STEP = re.compile(r"ProfilerStep#\d+")
_MICROSECONDS = 1e6
_ATTRIBUTES = {
    "computeMajor": "compute_capability_major",
    "computeMinor": "compute_capability_minor",
    "numSms": "multiprocessor_count",
    "totalGlobalMem": "total_memory",
    "sharedMemPerBlockOptin": "max_shared_memory_per_block_optin",
    "sharedMemPerMultiprocessor": "max_shared_memory_per_multiprocessor",
    "maxThreadsPerBlock": "max_threads_per_block",
    "maxThreadsPerMultiprocessor": "max_threads_per_multiprocessor",
    "regsPerMultiprocessor": "max_registers_per_multiprocessor",
}

_Thread = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernel:
    """A kernel's event: what is known from it alone, and how to find the rest."""

    facts: Mapping[str, Any]
    device: int | None
    row: int
    time_us: float | None
    start_us: float | None
    thread: _Thread
    identity: str | None


def read_pytorch_trace(file: Readable, *, name: str) -> ReportFile:
    """The kernels of a trace, read as it streams by; events may come in any order.

    DataFormatError names the event or the character that cannot be read, or says that there are
    no kernels. A trace that is cut off is read as far as it goes, with a note.
    """
    stream = JsonStream(file, name)
    trace = _Trace(name)
    for member, value in stream.members(_EVENTS):
        if member == "deviceProperties":
            trace.cards = dict(_cards(value))
        elif member == _EVENTS and isinstance(value, Mapping):
            trace.take(value)
    if not trace.events and not stream.cut:
        raise DataFormatError(f"JSON without events in {_EVENTS}: no trace of {TOOL}", path=name)
    if not trace.kernels:
        raise DataFormatError(
            f"a trace of {trace.events} events without a kernel; record it with "
            "ProfilerActivity.CUDA",
            path=name,
        )
    notes = ["the file ends before the trace does: what was there is read"] if stream.cut else []
    return ReportFile(
        measurements=grouped(
            trace.launches(),
            path=name,
            tool=TOOL,
            tool_version=None,
            method="duration of the kernel, as the trace has it",
            resolution_s=1e-9 if trace.fine else 1e-6,
        ),
        cards=tuple({card.name: card for card in trace.cards.values()}.values()),
        notes=tuple(notes),
    )


class _Trace:
    """Takes events one by one; afterwards tells launches. `fine`: times have fractions."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.events = 0
        self.fine = False
        self.kernels: list[_Kernel] = []
        self.cards: Mapping[int, ReportedCard] = {}
        self._operators: dict[str, str] = {}
        self._annotations: dict[_Thread, list[Range]] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """An event of any kind; DataFormatError if it is one that counts and cannot be read."""
        self.events += 1
        category, args = event.get("cat"), event.get("args")
        args = args if isinstance(args, Mapping) else {}
        if category in _OPERATORS and (identity := _identity(args)) is not None:
            self._operators[identity] = str(event.get("name"))
        elif category in _ANNOTATIONS:
            start, span = self._number(event, "ts"), self._number(event, "dur")
            if start is not None and span is not None:
                label = str(event.get("name"))
                ranges = self._annotations.setdefault(_thread(event), [])
                ranges.append((start, start + span, label))
        elif category in _KERNELS and event.get("ph", "X") == "X":
            self._take_kernel(event, args)

    def launches(self) -> Iterator[tuple[Alike, int, float | None]]:
        """What `grouped` takes, in the order of the events."""
        moments = (
            (index, kernel.thread, kernel.start_us)
            for index, kernel in enumerate(self.kernels)
            if kernel.start_us is not None
        )
        ranges = dict(ranges_at(moments, self._annotations))
        for index, kernel in enumerate(self.kernels):
            operator = None if kernel.identity is None else self._operators.get(kernel.identity)
            names = ranges.get(index, ())
            alike = Alike(
                **kernel.facts,
                device=_device(kernel.device, self.cards),
                operator=operator,
                ranges=tuple(one for one in names if not _STEP.fullmatch(one)),
            )
            time_us = kernel.time_us
            yield alike, kernel.row, None if time_us is None else time_us / _MICROSECONDS

    def _take_kernel(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        name, time_us = event.get("name"), self._number(event, "dur")
        if not isinstance(name, str) or not name.strip():
            self._refuse(event, "name")
        if time_us is not None and time_us < 0:
            self._refuse(event, "dur")
        self.fine = self.fine or not isinstance(event.get("dur"), int)
        self.kernels.append(
            _Kernel(
                facts={
                    "kernel_name": name,
                    "grid": _extents(args.get("grid")),
                    "block": _extents(args.get("block")),
                    "registers": _whole(args.get("registers per thread")),
                    "shared_bytes": _whole(args.get("shared memory")),
                    "context": _text(args.get("context")),
                    "stream": _text(args.get("stream")),
                },
                device=_whole(args.get("device")),
                row=self.events,
                time_us=time_us,
                start_us=self._number(event, "ts"),
                thread=_thread(event),
                identity=_identity(args),
            )
        )

    def _number(self, event: Mapping[str, Any], entry: str) -> float | None:
        """A number, which may stand in a string; None where there is none."""
        value = event.get(entry)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            self._refuse(event, entry)
        try:
            number = float(value)
        except (ValueError, OverflowError):
            self._refuse(event, entry)
        if not math.isfinite(number):
            self._refuse(event, entry)
        return number

    def _refuse(self, event: Mapping[str, Any], entry: str) -> NoReturn:
        raise DataFormatError(
            f"got {str(event.get(entry))[:60]!r}, expected "
            f"{'a name' if entry == 'name' else 'microseconds'}",
            path=self.path,
            field=f"event {self.events}: {entry}",
        )


def _device(index: int | None, cards: Mapping[int, ReportedCard]) -> ReportedDevice:
    card = None if index is None else cards.get(index)
    if card is None:
        return ReportedDevice(index=index)
    told = card.attributes
    major, minor = (told.get(f"compute_capability_{one}") for one in ("major", "minor"))
    return ReportedDevice(
        index=index,
        name=card.name,
        compute_capability=None if major is None or minor is None else (int(major), int(minor)),
        sm_count=_whole(told.get("multiprocessor_count")),
    )


def _cards(properties: object) -> Iterator[tuple[int, ReportedCard]]:
    for one in properties if isinstance(properties, list) else ():
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
            continue
        index = _whole(one.get("id"))
        attributes = {
            known: float(value)
            for entry, known in _ATTRIBUTES.items()
            if (value := _whole(one.get(entry))) is not None
        }
        if index is not None:
            yield index, ReportedCard(name=one["name"], attributes=attributes)


def _identity(args: Mapping[str, Any]) -> str | None:
    return next((str(args[entry]) for entry in _IDS if entry in args), None)


def _thread(event: Mapping[str, Any]) -> _Thread:
    return str(event.get("pid")), str(event.get("tid"))


def _extents(value: object) -> tuple[int, int, int] | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    x, y, z = (_whole(one) for one in value)
    return None if x is None or y is None or z is None else (x, y, z)


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 2**53 and value == int(value) else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:100]
