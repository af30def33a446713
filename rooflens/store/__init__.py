"""Runs on disk: one folder each, with run.json and samples.parquet, written whole or not at all."""

from rooflens.store.check import check_writable
from rooflens.store.find import default_runs_folder, find_run, recorded_runs, stored_runs
from rooflens.store.read import read_run
from rooflens.store.write import write_run

__all__ = [
    "check_writable",
    "default_runs_folder",
    "find_run",
    "read_run",
    "recorded_runs",
    "stored_runs",
    "write_run",
]
