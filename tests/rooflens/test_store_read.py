"""Reading runs: every damage is refused in one line that names the file and the place."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflens.errors import DataFormatError
from rooflens.report.document import document
from rooflens.store import read_run, write_run
from rooflens.store.samples_file import encode_samples
from tests.rooflens.examples import ladder, measured, run_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(ladder(), tmp_path / "runs", document=document(ladder()))


def refusal(folder: Path) -> str:
    """The message of the refusal, which is one line."""
    with pytest.raises(DataFormatError) as caught:
        read_run(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "run.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def put_samples(folder: Path, data: bytes) -> None:
    """Other samples, with the digest that belongs to them."""
    (folder / "samples.parquet").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    edit(folder, lambda record: record["samples_file"].update(sha256=digest))


def table_of(**replaced: Any) -> bytes:
    """The ladder's samples as Parquet with some columns replaced, or left out for None."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(pyarrow.BufferReader(encode_samples(ladder())))
    columns = {name: table.column(name) for name in table.column_names}
    columns.update(replaced)
    kept = {name: column for name, column in columns.items() if column is not None}
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(kept), sink)
    return bytes(sink.getvalue())


def column(name: str) -> list[Any]:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(pyarrow.BufferReader(encode_samples(ladder())))
    return list(table.column(name).to_pylist())


def test_the_helpers_change_nothing_by_themselves(folder: Path) -> None:
    """Guards the tests below: what they refuse is refused for the fault alone."""
    put_samples(folder, table_of())
    assert read_run(folder) == ladder()


def test_what_a_later_minor_version_adds_is_ignored(folder: Path) -> None:
    edit(folder, lambda record: record.update(colour="red"))
    put_samples(folder, table_of(weather=[1.0] * 154))
    assert read_run(folder) == ladder()


@pytest.mark.parametrize("name", ["run.json", "samples.parquet"])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"{name}: no such file" in refusal(folder)


def test_no_folder_at_all(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none")
    (tmp_path / "file").write_text("")
    assert "cannot be read" in refusal(tmp_path / "file")


@pytest.mark.parametrize("name", ["run.json", "samples.parquet"])
def test_a_folder_in_a_files_place(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).mkdir()
    assert "not a regular file" in refusal(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    (folder / "run.json").unlink()
    os.mkfifo(folder / "run.json")
    assert "not a regular file" in refusal(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not JSON, or cut short"),
        (b"[]", "expected a JSON object"),
        (b"7", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b'{"schema_version": NaN}', "NaN is no JSON number"),
        (b'{"schema_version": -Infinity}', "-Infinity is no JSON number"),
        (b'{"schema_version": 1e999}', "a whole number"),
        (b'{"schema_version": ' + b"9" * 9999 + b"}", "not JSON"),
        (b'{"a": "\xff"}', "not UTF-8 text: byte 0xff at offset 7"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"{}", "schema_version: missing"),
        (b'{"schema_version": 1}', "samples_file: missing"),
        (b'{"schema_version": 99}', "written by a later version: schema_version 99"),
        (b'{"schema_version": null}', "schema_version: missing"),
    ],
)
def test_no_run_at_all(folder: Path, text: bytes, message: str) -> None:
    (folder / "run.json").write_bytes(text)
    assert message in refusal(folder)


def test_a_later_version_is_refused_with_the_remedy(folder: Path) -> None:
    edit(folder, lambda record: record.update(schema_version=2))
    assert refusal(folder).endswith(
        "run.json: written by a later version: schema_version 2, this rooflens reads 1; "
        "upgrade rooflens"
    )


def test_json_cut_anywhere(folder: Path) -> None:
    path = folder / "run.json"
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), max(1, len(whole) // 50)):
        path.write_bytes(whole[:length])
        assert "not JSON, or cut short" in refusal(folder)


def test_a_fault_in_the_record_names_file_and_field(folder: Path) -> None:
    edit(folder, lambda record: record["results"][3]["time"]["hot"].pop("method"))
    assert refusal(folder) == (
        f"{folder / 'run.json'}: results[3].time.hot.method: missing, or null"
    )


def test_a_huge_file_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (folder / "run.json").stat().st_size
    monkeypatch.setattr("rooflens.store.read.MAX_FILE_BYTES", size)
    assert read_run(folder) == ladder()
    monkeypatch.setattr("rooflens.store.read.MAX_FILE_BYTES", size - 1)
    assert f"larger than the {size - 1} bytes" in refusal(folder)


def test_samples_swapped_between_runs_are_caught(folder: Path, tmp_path: Path) -> None:
    """Same kernels and counts, other times: only the digest can tell."""
    slower = run_of(*(measured(str(one.variant), 1e-3, 2e-3) for one in ladder().measurements))
    other = write_run(slower, tmp_path, document=document(slower))
    shutil.copy(other / "samples.parquet", folder / "samples.parquet")
    assert "not the file that was written with run.json" in refusal(folder)


@settings(max_examples=40)
@given(st.data())
def test_one_flipped_bit_in_the_samples_is_caught(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = write_run(ladder(), tmp_path_factory.mktemp("runs"), document=document(ladder()))
    path = folder / "samples.parquet"
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    assert "not the file that was written" in refusal(folder)


@pytest.mark.parametrize("keep", [0, 3, 4, 100, -1, -8])
def test_cut_samples_with_a_matching_digest(folder: Path, keep: int) -> None:
    put_samples(folder, encode_samples(ladder())[:keep])
    assert "samples.parquet: not a readable Parquet file" in refusal(folder)


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_as_samples(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = write_run(ladder(), tmp_path_factory.mktemp("runs"), document=document(ladder()))
    put_samples(folder, b"PAR1" + content + b"PAR1")
    assert "not a readable Parquet file" in refusal(folder)


def test_wrong_columns(folder: Path) -> None:
    for name in ("result", "kernel", "cache_state", "sample", "time_s"):
        put_samples(folder, table_of(**{name: None}))
        assert f"samples.parquet: {name}: got no such column, expected one" in refusal(folder)
    put_samples(folder, table_of(time_s=["fast"] * 154))
    assert "time_s: got string, expected one column of type double" in refusal(folder)
    put_samples(folder, table_of(result=column("result")))
    assert "result: got int64, expected one column of type int32" in refusal(folder)


def as_int32(values: list[Any]) -> Any:
    import pyarrow

    return pyarrow.array(values, pyarrow.int32())


@pytest.mark.parametrize("result", [7, -1, 2**31 - 1])
def test_a_result_that_is_not_there(folder: Path, result: int) -> None:
    values = [result if one == 6 else one for one in column("result")]
    put_samples(folder, table_of(result=as_int32(values)))
    message = refusal(folder)
    assert f"samples of result {result}, which" in message or "says 11 samples, but 0" in message


def test_counts_that_disagree(folder: Path) -> None:
    edit(folder, lambda record: record["results"][3]["time"]["cold"].update(samples=12))
    assert "results[3].time.cold.samples: says 12 samples, but 11 are stored" in refusal(folder)


def test_hostile_cells(folder: Path) -> None:
    times: list[Any] = column("time_s")
    put_samples(folder, table_of(time_s=[*times[:5], float("nan"), *times[6:]]))
    assert "time_s: row 5: got nan, expected a finite number" in refusal(folder)
    put_samples(folder, table_of(time_s=[*times[:5], None, *times[6:]]))
    assert "row 5 has an absent value" in refusal(folder)
    put_samples(
        folder,
        table_of(cache_state=[{"hot": "warm"}.get(one, one) for one in column("cache_state")]),
    )
    assert "expected one of hot, cold" in refusal(folder)
    put_samples(folder, table_of(sample=as_int32([0] * 154)))
    assert "sample: row 1: got sample 0, expected 1" in refusal(folder)


def test_a_table_of_very_many_rows_is_not_unpacked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rooflens.store.samples_file.MAX_SAMPLES", 154)
    assert read_run(folder) == ladder()
    monkeypatch.setattr("rooflens.store.samples_file.MAX_SAMPLES", 153)
    assert "154 rows, more than the 153" in refusal(folder)
