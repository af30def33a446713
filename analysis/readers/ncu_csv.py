"""Nsight Compute's CSV exports: bytes of a file -> imported measurements, one a launch.

Reads the details and raw pages, tables of chosen metrics, and summaries by kernel or NVTX range,
wherever they stand in a log. A metric that is not there is absent with its reason, never 0.
"""

import re
from collections.abc import Mapping

from rooflens.analysis.readers.csv_scan import Header, Other, Row, Shape, scan
from rooflens.analysis.readers.decoding import Decoded, decode_report
from rooflens.analysis.readers.locale_numbers import DecimalMark, decide_format
from rooflens.analysis.readers.ncu_launches import Gatherer
from rooflens.analysis.readers.ncu_record import (
    LaunchFacts,
    TimeCell,
    card_of_values,
    distinct_cards,
    executed,
    measurement_of,
    missing,
)
from rooflens.analysis.readers.ncu_rules import work_out
from rooflens.analysis.readers.ncu_source import source_measurements
from rooflens.analysis.readers.ncu_transposed import transposed
from rooflens.analysis.readers.ncu_values import (
    LEAST_STEP_S,
    CellReader,
    LaunchValues,
    undecided_cells,
)
from rooflens.analysis.readers.ncu_wanted import MEAN_TIME, TIME
from rooflens.analysis.readers.raw_launch import ABSENCES, RawLaunch, Reading
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement

REFUSED = (
    "every counter is n/a: reading them was refused (it needs permission, or a driver that can)"
)
EXPORT_COMMAND = "ncu --import REPORT.ncu-rep --csv --page raw --print-units base > REPORT.csv"

_SAID_INSTEAD = {
    "ERR_NVGPUCTRPERM": "Nsight Compute was refused the counters (ERR_NVGPUCTRPERM); allow them, "
    "or run it as root",
    "No kernels were profiled": "Nsight Compute profiled no kernels: its filters, or the program, "
    "left none",
}
_TEXT_REPORT = re.compile(r"^\s{4,}Section: |^\s{4}-{10,} -{5,}", re.MULTILINE)
_LAUNCH_FACTS = ("launch__", "device__")


def read_ncu_csv(
    export: bytes | Decoded, *, name: str, decimal: DecimalMark | None = None
) -> ReportFile:
    """The launches of an export; `name` stands for the file in complaints and sources.

    decimal: how numbers are written, where the file's own evidence does not tell. DataFormatError
    names line and column of what cannot be read, or says what a file without a table holds.
    """
    decoded = export if isinstance(export, Decoded) else decode_report(export)
    gatherer = Gatherer(name)
    others: list[Other] = []
    shapes: dict[Shape, int] = {}
    turned = transposed(decoded.text, path=name)
    for part in scan(decoded.text, path=name) if turned is None else turned:
        if isinstance(part, Header):
            shapes[part.shape] = shapes.get(part.shape, 0) + 1
            gatherer.start(part)
        elif isinstance(part, Row):
            gatherer.take(part)
        else:
            others.append(part)
    sources = source_measurements(gatherer.sources, name)
    if not gatherer.launches and not sources:
        raise DataFormatError(_no_launches(shapes, others, decoded.text), path=name)
    numbers = decide_format(
        gatherer.evidence, more=undecided_cells(gatherer.launches), path=name, forced=decimal
    )
    reader = CellReader(numbers, name)
    read = [reader.launch(raw) for raw in gatherer.launches]
    notes = [*decoded.notes, f"numbers: {numbers.reason}"]
    notes += [f"line {one.line} is cut off and left out" for one in others if one.broken]
    withheld = any(reason in ABSENCES for values in read for reason in values.absent.values())
    if withheld and not any(_counted(values) for values in read):
        notes.append(REFUSED)
    pairs = list(zip(gatherer.launches, read, strict=True))
    return ReportFile(
        measurements=tuple(_measurement(raw, values, reader) for raw, values in pairs),
        pages=sources,
        cards=_cards(pairs),
        notes=tuple(notes),
    )


def _no_launches(shapes: Mapping[Shape, int], others: list[Other], text: str) -> str:
    """What a file without launches holds instead, and what to do."""
    said = "\n".join(other.text for other in others)
    for phrase, meaning in _SAID_INSTEAD.items():
        if phrase in said:
            return meaning
    if "==ERROR==" in said:
        line = next(one.text for one in others if "==ERROR==" in one.text)
        shown = line.replace("==ERROR==", "").strip()[:200]
        return f"no launches; Nsight Compute failed: {shown!r}"
    if shapes:
        only_source = set(shapes) == {Shape.SOURCE}
        held = "tables of source lines, no machine code" if only_source else "a table without a row"
        return f"{held}, no launches; export with {EXPORT_COMMAND}"
    if _TEXT_REPORT.search(text):
        return f"a report printed as text; make a CSV of it with {EXPORT_COMMAND}"
    return f"no table of Nsight Compute in it; export one with {EXPORT_COMMAND}"


def _counted(values: LaunchValues) -> bool:
    return any(not metric.startswith(_LAUNCH_FACTS) for metric in values.values)


def _cards(pairs: list[tuple[RawLaunch, LaunchValues]]) -> tuple[ReportedCard, ...]:
    """The distinct cards of the launches; those of one name and index are one."""
    seen: dict[tuple[str, str | None], ReportedCard] = {}
    for raw, values in pairs:
        if raw.card is not None and (key := (raw.card, raw.identity.get("Device"))) not in seen:
            seen[key] = card_of_values(raw.card, values.values)
    return distinct_cards(seen.values())


def _measurement(raw: RawLaunch, read: LaunchValues, reader: CellReader) -> Measurement:
    values = read.values
    facts = LaunchFacts(
        line=raw.line,
        identity=raw.identity,
        ranges=raw.ranges,
        card=raw.card,
        counts=values,
        launches=_launches(raw, reader),
        converts_halves=executed(values, "hadd"),
        multiplies_halves=executed(values, "hmul"),
    )
    quantities = work_out(values, facts.device.compute_capability)
    metric = TIME if TIME in values else MEAN_TIME
    reading = raw.reading(metric)
    step_s = LEAST_STEP_S if reading is None else reader.step_s(reading)
    return measurement_of(
        facts,
        quantities,
        absent=missing(quantities, read.absent),
        time=TimeCell(metric=metric, step_s=step_s, is_median=_is_median(reading, facts, reader)),
        path=reader.path,
    )


def _launches(raw: RawLaunch, reader: CellReader) -> int:
    if raw.invocations is None:
        return 1
    count = reader.numbers.parse(raw.invocations.strip())
    if count is None or count < 1 or count != int(count):
        raise DataFormatError(
            f"got {raw.invocations[:60]!r}, expected how many launches the row sums up",
            path=reader.path,
            line=raw.line,
            field="Invocations",
        )
    return int(count)


def _is_median(reading: Reading | None, facts: LaunchFacts, reader: CellReader) -> bool:
    """Whether the mean is the median too: of one launch or two, or of equal ones."""
    if facts.launches <= 2:
        return True
    bounds = None if reading is None else reader.bounds(reading)
    return bounds is not None and bounds[0] == bounds[1]
