"""A run as CSV (RFC 4180): one row per result, units in the column names, empty where absent."""

import csv
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from rooflens.report.document import Document, document
from rooflens.report.text import clean
from rooflens.run import Run
from rooflens.terms import Basis, CacheState

_FORMULA_STARTS = ("=", "+", "-", "@")

_TIME_ENTRIES = (
    "median_s",
    "p10_s",
    "p90_s",
    "samples",
    "resolved",
    "achieved_bytes_per_s",
    "achieved_flops_per_s",
    "fraction_of_bandwidth",
    "fraction_of_peak",
    "fraction_of_attainable",
    "bound",
)


def write_csv(run: Run, stream: TextIO) -> None:
    """Write a run's results; open a file for it with newline="".

    Text that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    whole = document(run)
    write_rows([dict(_cells(whole["device"], result)) for result in whole["results"]], stream)


def write_rows(rows: Sequence[Document], stream: TextIO) -> None:
    """Rows under the columns that any of them has, in the order of their first mention."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(stream, lineterminator="\r\n")
    if names:
        writer.writerow([_safe(name) for name in names])
    writer.writerows([_safe(row.get(name)) for name in names] for row in rows)


def _cells(device: Document, result: Document) -> Iterator[tuple[str, Any]]:
    """Column names and values of one result, in the order of the columns."""
    yield "device", device["name"]
    for name in ("kernel", "family", "variant", "dtype"):
        yield name, result[name]
    imported = result["basis"] == Basis.IMPORTED.value
    if imported:
        yield from _launch_cells(result)
    for name, extent in result["size"].items():
        yield f"size_{name}", extent
    for name in ("status", "reason", "basis", "architecture"):
        yield name, result[name]
    verification = result["verification"] or {}
    yield "verified", verification.get("passed")
    for name in ("max_abs_error", "relative_l2_error"):
        yield name, verification.get(name)
    for state in (CacheState.REPORTED,) if imported else (CacheState.HOT, CacheState.COLD):
        times = result["time"].get(state.value, {})
        for name in _TIME_ENTRIES:
            yield f"{state.value}_{name}", times.get(name)
    resources = result["resources"] or {}
    yield "registers_per_thread", resources.get("registers")
    yield "shared_bytes_per_block", resources.get("shared_bytes")
    yield "spill_bytes_per_thread", resources.get("spill_bytes")
    yield "local_bytes_per_thread", resources.get("local_bytes")
    launches = result["launches"]
    yield "launches", len(launches) or None
    yield "most_threads_in_a_launch", max((one["threads"] for one in launches), default=None)
    for precision, operations in (result["flops"] or {}).items():
        yield f"flops_{precision}", operations
    yield "special_function_ops", result["special_function_ops"]
    traffic = result["bytes"] or {}
    yield "compulsory_bytes", traffic.get("compulsory")
    yield "issued_bytes", traffic.get("issued")
    yield "working_set_bytes", result["working_set_bytes"]
    yield "intensity_flop_per_byte", result["intensity"]
    yield "ridge_flop_per_byte", result["ridge_flop_per_byte"]
    yield "attainable_flops_per_s", result["attainable_flops_per_s"]
    yield "modelled_time_bound_s", result["time_bound_s"]
    for kind in ("bandwidth", "peak"):
        ceiling = result[f"{kind}_ceiling"] or {}
        unit = "bytes_per_s" if kind == "bandwidth" else "flops_per_s"
        yield f"{kind}_ceiling_{unit}", ceiling.get("per_s")
        yield f"{kind}_ceiling_basis", ceiling.get("basis")
    yield "cache_state", result["cache_state"]
    yield "bound", result["bound"]
    yield "bound_note", result["bound_note"]
    yield "notes", "; ".join([*result["notes"], *result["placement_notes"]]) or None


def _launch_cells(result: Document) -> Iterator[tuple[str, Any]]:
    """What an imported row alone has: its launch, and where it stands in which file."""
    yield "kernel_name", result["kernel_name"]
    for name in ("grid", "block"):
        extents = result["launch"][name]
        yield name, None if extents is None else " x ".join(map(str, extents))
    yield "device_index", result["device"]["index"]
    for name in ("file", "row", "tool"):
        yield f"source_{name}", result["source"][name]
    for level, moved in result["bytes"].items():
        yield f"{level}_bytes", moved
    for kind, operations in result["tensor_ops"].items():
        yield f"tensor_ops_{kind}", operations


def _safe(value: object) -> object:
    """Text on one line without what a terminal would obey, marked as text where it starts like a
    formula; numbers stay as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
