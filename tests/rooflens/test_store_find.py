"""From what a user types to a run."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

import rooflens.recorded
from rooflens.errors import UnknownNameError, UsageError
from rooflens.report.document import document
from rooflens.run import Run
from rooflens.store import default_runs_folder, find_run, recorded_runs, stored_runs, write_run
from rooflens.store.layout import TEMPORARY_PREFIX
from tests.rooflens.examples import ladder


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder, a folder of recorded runs and a working folder of the test's own."""
    monkeypatch.setenv("ROOFLENS_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "recorded").mkdir()
    monkeypatch.setattr(rooflens.recorded, "__path__", [str(tmp_path / "recorded")])
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def at(created: str) -> Run:
    return replace(ladder(), provenance=replace(ladder().provenance, created_utc=created))


def save(parent: Path, created: str = "2025-01-31T12:34:56Z") -> Path:
    return write_run(at(created), parent, document=document(at(created)))


def record(tmp_path: Path, name: str) -> Path:
    return save(tmp_path).rename(tmp_path / "recorded" / name)


def test_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_runs_folder() == tmp_path / "data" / "runs"
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("ROOFLENS_DATA_DIR")
        else:
            monkeypatch.setenv("ROOFLENS_DATA_DIR", unset)
        assert default_runs_folder().name == "runs"
        assert default_runs_folder().parent.name == "rooflens"
        assert default_runs_folder().is_absolute()


def test_a_path(tmp_path: Path) -> None:
    folder = save(tmp_path / "with space é")
    assert find_run(str(folder)) == folder
    assert find_run(f"{folder}{os.sep}") == folder
    assert find_run(str(folder / "run.json")) == folder
    assert find_run(os.path.relpath(folder)).resolve() == folder.resolve()
    os.chdir(folder)
    assert find_run(".").resolve() == folder.resolve()


def test_a_folder_with_one_run(tmp_path: Path) -> None:
    folder = save(tmp_path / "one")
    (tmp_path / "one" / "other").mkdir()
    assert find_run(str(tmp_path / "one")) == folder


def test_an_unfinished_run_is_not_seen(tmp_path: Path) -> None:
    folder = save(tmp_path / "one")
    save(tmp_path / "one").rename(tmp_path / "one" / f"{TEMPORARY_PREFIX}ab")
    assert find_run(str(tmp_path / "one")) == folder


def test_a_folder_with_several_lists_them_newest_first(tmp_path: Path) -> None:
    parent = tmp_path / "many"
    names = [
        save(parent, created).name
        for created in ("2024-06-01T00:00:00Z", "2025-06-01T00:00:00Z", "2023-06-01T00:00:00Z")
    ]
    undated = save(parent).rename(parent / "by hand")
    os.utime(undated / "run.json", (1717243200, 1717243200))  # 2024-06-01T12:00:00Z
    with pytest.raises(UsageError) as caught:
        find_run(str(parent))
    order = [str(caught.value).index(name) for name in (names[1], "by hand", names[0], names[2])]
    assert order == sorted(order)
    assert "4 runs" in str(caught.value)


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    for day in range(1, 14):
        save(tmp_path / "many", f"2025-01-{day:02}T00:00:00Z")
    with pytest.raises(UsageError, match=r"13 runs.*20250113.*20250104.* and 3 more$") as caught:
        find_run(str(tmp_path / "many"))
    assert "20250103" not in str(caught.value)


def test_names_of_recorded_and_stored_runs(tmp_path: Path) -> None:
    recorded = record(tmp_path, "h200")
    stored = save(default_runs_folder())
    assert recorded_runs() == {"h200": recorded}
    assert stored_runs() == {stored.name: stored}
    assert find_run("h200") == recorded
    assert find_run(stored.name) == stored


def test_a_folder_of_the_same_name_without_a_run_hides_nothing(tmp_path: Path) -> None:
    recorded = record(tmp_path, "h200")
    Path("h200").mkdir()
    assert find_run("h200") == recorded
    mine = save(Path("h200"))
    assert find_run("h200") == mine


@pytest.mark.parametrize("name", ["h20", "H200", "h100"])
def test_an_unknown_name_lists_near_matches(tmp_path: Path, name: str) -> None:
    record(tmp_path, "h200")
    with pytest.raises(UnknownNameError, match=r"unknown run .* did you mean h200"):
        find_run(name)


def test_an_unknown_name_lists_stored_runs_that_contain_it(tmp_path: Path) -> None:
    record(tmp_path, "h200")
    stored = save(default_runs_folder())
    with pytest.raises(UnknownNameError, match=stored.name):
        find_run("example-gpu")
    with pytest.raises(UnknownNameError, match="known: h200"):
        find_run("zzzzzz")


def test_nothing_known_says_how_to_begin() -> None:
    with pytest.raises(UsageError, match="make one with: rooflens run"):
        find_run("h200")


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    record(tmp_path, "h200")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for path in ("../x", "x/y", "../recorded-not/h200"):
        with pytest.raises(UsageError, match=r"no run at .*: no such folder"):
            find_run(path)
    for path in ("../empty", "../file"):
        with pytest.raises(UsageError, match="holds no run"):
            find_run(path)


@pytest.mark.parametrize("name", ["", "nul\0byte", "n" * 5000, "a\nb"])
def test_hostile_names(tmp_path: Path, name: str) -> None:
    record(tmp_path, "h200")
    with pytest.raises(UsageError) as caught:
        find_run(name)
    assert "\n" not in str(caught.value)


def test_shipped_runs_are_named_by_folders_with_a_run(tmp_path: Path) -> None:
    (tmp_path / "recorded" / "__pycache__").mkdir()
    (tmp_path / "recorded" / "__init__.py").write_text("")
    assert recorded_runs() == {}
