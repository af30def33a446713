"""Exports of Nsight Systems, whole and with tables and columns missing."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from rooflens.analysis.readers import nsys_sqlite
from rooflens.analysis.readers.nsys_sqlite import read_nsys_sqlite
from rooflens.analysis.readers.read_report import read_report
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement
from rooflens.reported import Report
from rooflens.terms import CacheState

PROCESS = (1 << 48) | (321 << 24)
THREAD = PROCESS | 7

WHOLE = f"""
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'void gemm<4>(float*)'), (2, 'gemm'), (3, 'layer');
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2024.7.1');
CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, totalMemory INT);
INSERT INTO TARGET_INFO_GPU VALUES (5, 'NVIDIA H200', 132, 150000000000);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (5, 0, 321);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,
  streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT,
  gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT,
  registersPerThread INT, staticSharedMemory INT, dynamicSharedMemory INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000, 4000, 0, 1, 7, 11, {PROCESS}, 1, 2, 8, 4, 1, 128, 1, 1, 32, 1024, 64),
  (5000, 10000, 0, 1, 7, 12, {PROCESS}, 1, 2, 8, 4, 1, 128, 1, 1, 32, 1024, 64),
  (11000, 12000, 0, 1, 7, 13, {PROCESS}, 1, 2, 8, 4, 1, 128, 1, 1, 32, 1024, 64);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (100, 110, {THREAD}, 11), (200, 210, {THREAD}, 12), (900, 910, {THREAD}, 13);
CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES
  (0, 500, 59, 'step', NULL, {THREAD}), (50, 300, 60, NULL, 3, {THREAD}),
  (0, 999, 34, 'a mark', NULL, {THREAD}), (0, 999, 59, 'other thread', NULL, {THREAD + 1}),
  (0, NULL, 59, 'open', NULL, {THREAD});
"""


def made(folder: Path, *statements: str) -> Path:
    path = folder / "export with spaces & #.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.executescript(statement)
        connection.commit()
    return path


def rows(path: Path) -> Sequence[tuple[Measurement, Report]]:
    found = []
    for one in read_nsys_sqlite(path).measurements:
        assert one.report is not None
        found.append((one, one.report))
    return found


def test_kernels_have_times_shapes_and_the_ranges_they_were_launched_in(tmp_path: Path) -> None:
    path = made(tmp_path, WHOLE)
    (inside, report), (outside, other) = rows(path)
    assert inside.times[CacheState.REPORTED].samples_s == (3e-6, 5e-6)
    assert outside.times[CacheState.REPORTED].samples_s == (1e-6,)
    assert report.kernel_name == "void gemm<4>(float*)"
    assert report.launches == 2
    assert report.ranges == ("step", "layer")
    assert other.ranges == ()
    assert (report.grid, report.block) == ((8, 4, 1), (128, 1, 1))
    assert (report.registers, report.static_shared_bytes, report.dynamic_shared_bytes) == (
        32,
        1024,
        64,
    )
    assert report.process_id == "321"
    assert report.device.name == "NVIDIA H200"
    assert report.source.tool_version == "2024.7.1"
    file = read_report(path)
    assert [card.name for card in file.cards] == ["NVIDIA H200"]
    assert not file.notes


@pytest.mark.parametrize(
    "table",
    [
        "StringIds",
        "META_DATA_EXPORT",
        "TARGET_INFO_GPU",
        "TARGET_INFO_CUDA_DEVICE",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "NVTX_EVENTS",
    ],
)
def test_a_table_that_is_missing_costs_only_what_it_held(tmp_path: Path, table: str) -> None:
    times = sorted(
        time
        for row, _ in rows(made(tmp_path, WHOLE, f"DROP TABLE {table};"))
        for time in row.times[CacheState.REPORTED].samples_s
    )
    assert times == [1e-6, 3e-6, 5e-6]


@pytest.mark.parametrize("column", ["gridX", "streamId", "globalPid", "demangledName", "deviceId"])
def test_a_column_that_is_missing_costs_only_what_it_held(tmp_path: Path, column: str) -> None:
    drop = f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN {column};"
    found = rows(made(tmp_path, WHOLE, drop))
    assert sum(report.launches for _, report in found) == 3
    if column == "gridX":
        assert {report.grid for _, report in found} == {None}
    if column == "demangledName":
        assert {report.kernel_name for _, report in found} == {"gemm"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;", "no table CUPTI_ACTIVITY_KIND_KERNEL"),
        ("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;", "is empty: no kernels ran"),
        ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 5;", "ends at 5 ns, before its start at"),
        ("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN end;", "has no start and end"),
    ],
)
def test_what_holds_no_kernels_says_so(tmp_path: Path, change: str, said: str) -> None:
    with pytest.raises(DataFormatError) as caught:
        rows(made(tmp_path, WHOLE, change))
    assert said in str(caught.value)


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path, WHOLE)
    data = bytearray(path.read_bytes())
    data[100:] = bytes(len(data) - 100)
    path.write_bytes(data)
    with pytest.raises(DataFormatError):
        read_nsys_sqlite(path)


def test_odd_values_are_absent(tmp_path: Path) -> None:
    odd = (
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'x', registersPerThread = -1, "
        "deviceId = NULL, demangledName = 99, streamId = 1.5, globalPid = 'p';"
    )
    ((row, report),) = rows(made(tmp_path, WHOLE, odd))
    assert row.times[CacheState.REPORTED].samples_s == (3e-6, 5e-6, 1e-6)
    assert report.grid is None
    assert report.registers is None
    assert report.device.index is None


def test_a_database_that_never_ends_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hostile column that is worked out without end."""
    monkeypatch.setattr(nsys_sqlite, "LIMIT_S", 0.2)
    path = made(
        tmp_path,
        WHOLE,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName, correlationId) "
        "SELECT i, i + 1, 1, i FROM n;",
    )
    monkeypatch.setattr(nsys_sqlite, "LIMIT_S", -1.0)
    with pytest.raises(DataFormatError, match="interrupted"):
        read_nsys_sqlite(path)


def test_nothing_is_written_to_the_file(tmp_path: Path) -> None:
    path = made(tmp_path, WHOLE)
    before = path.read_bytes()
    read_nsys_sqlite(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
