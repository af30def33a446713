"""samples.parquet: one row per raw time sample.

Columns: result int32 (index into run.json's results), kernel string, cache_state string, sample
int32 (position in the order taken), time_s float64.
"""

import importlib
import io
import math
from pathlib import Path
from typing import Any, NoReturn

from rooflens.codec import SampleKey, samples_of
from rooflens.errors import DataFormatError
from rooflens.run import Run
from rooflens.store.layout import MAX_SAMPLES
from rooflens.terms import CacheState

COLUMNS = {
    "result": "int32",
    "kernel": "string",
    "cache_state": "string",
    "sample": "int32",
    "time_s": "double",
}


def encode_samples(run: Run) -> bytes:
    """The Parquet file of all raw samples of a run; the same run gives the same bytes."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for (index, state), values in samples_of(run).items():
        columns["result"] += [index] * len(values)
        # A lone surrogate cannot be UTF-8; the kernel column is for readers, run.json has the name.
        kernel = run.measurements[index].kernel.encode("utf-8", "replace").decode()
        columns["kernel"] += [kernel] * len(values)
        columns["cache_state"] += [state.value] * len(values)
        columns["sample"] += range(len(values))
        columns["time_s"] += values
    pyarrow = _arrow("pyarrow")
    schema = pyarrow.schema([(name, _arrow_type(pyarrow, kind)) for name, kind in COLUMNS.items()])
    file = io.BytesIO()
    _arrow("pyarrow.parquet").write_table(pyarrow.table(columns, schema=schema), file)
    return file.getvalue()


def decode_samples(data: bytes, path: Path) -> dict[SampleKey, tuple[float, ...]]:
    """Raw samples in seconds by result index and cache state; `path` is for complaints.

    DataFormatError if this is no Parquet file, is cut short, has other columns, more than
    20 million rows, an absent or not finite value, or samples out of order.
    """
    columns = _read_columns(data, path)
    samples: dict[tuple[int, str], list[float]] = {}
    rows = zip(
        columns["result"], columns["cache_state"], columns["sample"], columns["time_s"], strict=True
    )
    for row, (index, state, sample, time_s) in enumerate(rows):
        if index is None or state is None or sample is None or time_s is None:
            _fail(path, f"row {row} has an absent value")
        if not math.isfinite(time_s):
            _fail(path, f"row {row}: got {time_s}, expected a finite number", "time_s")
        taken = samples.setdefault((index, state), [])
        if sample != len(taken):
            _fail(path, f"row {row}: got sample {sample}, expected {len(taken)}", "sample")
        taken.append(time_s)
    return {
        (index, _cache_state(state, path)): tuple(values)
        for (index, state), values in samples.items()
    }


def _read_columns(data: bytes, path: Path) -> dict[str, list[Any]]:
    pyarrow = _arrow("pyarrow")
    try:
        # Without threads, which may abort a process that ends while they are being started.
        file = _arrow("pyarrow.parquet").ParquetFile(io.BytesIO(data), pre_buffer=False)
        _check_schema(file, path)
        table = file.read(columns=list(COLUMNS), use_threads=False)
        return {name: table.column(name).to_pylist() for name in COLUMNS}
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        _fail(path, f"not a readable Parquet file: {reason}")


def _check_schema(file: Any, path: Path) -> None:
    schema = file.schema_arrow
    for name, kind in COLUMNS.items():
        found = [str(field.type) for field in schema if field.name == name]
        if found != [kind]:
            got = " and ".join(found) if found else "no such column"
            _fail(path, f"got {got}, expected one column of type {kind}", name)
    if file.metadata.num_rows > MAX_SAMPLES:
        _fail(path, f"{file.metadata.num_rows} rows, more than the {MAX_SAMPLES} that are read")


def _cache_state(text: str, path: Path) -> CacheState:
    try:
        return CacheState(text)
    except ValueError:
        _fail(path, f"got {text!r}, expected one of {', '.join(CacheState)}", "cache_state")


def _arrow(module: str) -> Any:
    """A pyarrow module, loaded when first needed; it has no type hints."""
    return importlib.import_module(module)


def _arrow_type(pyarrow: Any, kind: str) -> Any:
    return pyarrow.float64() if kind == "double" else getattr(pyarrow, kind)()


def _fail(path: Path, message: str, field: str | None = None) -> NoReturn:
    raise DataFormatError(message, path=str(path), field=field)
