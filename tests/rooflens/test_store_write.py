"""Writing runs: whole or not at all, whatever goes wrong in between."""

import errno
import hashlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rooflens.codec import encode_run
from rooflens.errors import DataFormatError, StorageError, UsageError
from rooflens.report.document import document
from rooflens.run import Run
from rooflens.store import check_writable, read_run, write_run
from rooflens.store.layout import runs_in, slug
from tests.rooflens.examples import CARD, ladder, measured, modelled, run_of

ROOT = Path(__file__).resolve().parents[2]


def save(run: Run, parent: Path) -> Path:
    return write_run(run, parent, document=document(run))


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_run_is_read_back_exactly(tmp_path: Path) -> None:
    folder = save(ladder(), tmp_path)
    assert read_run(folder) == ladder()
    assert entries(folder) == ["run.json", "samples.parquet"]
    assert entries(tmp_path) == [folder.name]


def test_a_run_without_times_is_read_back(tmp_path: Path) -> None:
    run = run_of(modelled("naive"))
    assert read_run(save(run, tmp_path)) == run


def test_the_folder_is_named_for_time_and_card(tmp_path: Path) -> None:
    name = save(ladder(), tmp_path).name
    assert re.fullmatch(r"20250131T123456Z-example-gpu-[0-9a-f]{8}", name)


def test_a_time_with_another_offset_is_named_in_utc(tmp_path: Path) -> None:
    source = replace(ladder().provenance, created_utc="2025-01-31T01:00:00+02:00")
    assert save(replace(ladder(), provenance=source), tmp_path).name.startswith("20250130T230000Z")


@pytest.mark.parametrize("created", ["yesterday", "", "2025-01-31T12:00:00"])
def test_a_time_that_is_none_is_refused(tmp_path: Path, created: str) -> None:
    source = replace(ladder().provenance, created_utc=created)
    with pytest.raises(UsageError, match="created_utc: got"):
        save(replace(ladder(), provenance=source), tmp_path)
    assert entries(tmp_path) == []


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"),
        ("Größe/../3", "groe-3"),
        ("显卡", "device"),
        ("", "device"),
        ("x" * 99, "x" * 40),
    ],
)
def test_slug(device: str, name: str) -> None:
    assert slug(device) == name


@pytest.mark.parametrize("parent", ["with space", "Größe/深い", "a/b/c"])
def test_missing_parents_are_made(tmp_path: Path, parent: str) -> None:
    card = replace(CARD, name="GPU Ω 型 / with space")
    run = run_of(measured("naive", 1e-3, 1e-3), card=card)
    assert read_run(save(run, tmp_path / parent)) == run


def test_run_json_is_the_document_and_knows_its_samples(tmp_path: Path) -> None:
    folder = save(ladder(), tmp_path)
    stored = json.loads((folder / "run.json").read_text(encoding="ascii"))
    entry = stored.pop("samples_file")
    assert stored == document(ladder())
    samples = (folder / "samples.parquet").read_bytes()
    assert entry == {"name": "samples.parquet", "sha256": hashlib.sha256(samples).hexdigest()}


def test_samples_are_a_plain_table(tmp_path: Path) -> None:
    import pyarrow.parquet

    run = run_of(modelled("unfused"), measured("naive", 2e-6, 5e-6))
    table = pyarrow.parquet.read_table(save(run, tmp_path) / "samples.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "result": "int32",
        "kernel": "string",
        "cache_state": "string",
        "sample": "int32",
        "time_s": "double",
    }
    rows = table.to_pylist()
    assert len(rows) == 22
    assert rows[5] == {
        "result": 1,
        "kernel": "softmax.naive",
        "cache_state": "hot",
        "sample": 5,
        "time_s": 2e-6,
    }


def test_a_document_of_another_run_is_refused(tmp_path: Path) -> None:
    other = run_of(measured("naive", 1e-3, 2e-3))
    with pytest.raises((UsageError, DataFormatError)):
        write_run(ladder(), tmp_path, document=document(other))
    same_shape = replace(ladder(), device_kind="model")
    with pytest.raises(UsageError, match="not that of the run"):
        write_run(ladder(), tmp_path, document=document(same_shape))
    assert entries(tmp_path) == []


def test_a_derived_number_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="speed: got inf"):
        write_run(ladder(), tmp_path, document={**encode_run(ladder()), "speed": float("inf")})
    assert entries(tmp_path) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failed_flush_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, number: int
) -> None:
    """Each flush before the rename in turn: samples, record, folder."""
    other = save(ladder(), tmp_path)
    calls = 0

    def fsync(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StorageError, match=f"cannot write a run in .*{os.strerror(number)}"):
        save(ladder(), tmp_path)
    assert calls == failing
    assert entries(tmp_path) == [other.name]
    assert read_run(other) == ladder()


def test_a_failed_rename_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(self: Path, target: Path) -> Path:
        raise PermissionError(errno.EPERM, "no")

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(StorageError):
        save(ladder(), tmp_path)
    assert entries(tmp_path) == []


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(KeyboardInterrupt):
        save(ladder(), tmp_path)
    assert entries(tmp_path) == []


def test_a_name_that_is_taken_is_drawn_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter(["aaaaaaaa", "t1", "aaaaaaaa", "t2", "bbbbbbbb"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(drawn))
    first = save(ladder(), tmp_path)
    second = save(run_of(modelled("naive")), tmp_path)
    assert first.name.endswith("-aaaaaaaa")
    assert second.name.endswith("-bbbbbbbb")
    assert read_run(first) == ladder()


SAVE = """
import sys
from pathlib import Path
from tests.rooflens.examples import ladder
from tests.rooflens.test_store_write import save
"""


def python(code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", SAVE + code, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX resource limits")
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """The kernel itself refuses to let the file grow, in the middle of it."""
    other = save(ladder(), tmp_path)
    limited = python(
        "import resource\n"
        "from rooflens.errors import StorageError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    save(ladder(), Path(sys.argv[1]))\n"
        "except StorageError as error:\n    print(error)\n",
        str(tmp_path),
    )
    assert limited.stderr == ""
    assert "cannot write a run in" in limited.stdout
    assert os.strerror(errno.EFBIG) in limited.stdout
    assert entries(tmp_path) == [other.name]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("killing", [1, 2, 3])
def test_a_kill_leaves_at_most_a_hidden_folder(tmp_path: Path, killing: int) -> None:
    other = save(ladder(), tmp_path)
    killed = python(
        "import os, signal\n"
        "calls = 0\n"
        "def fsync(handle):\n"
        "    global calls\n    calls += 1\n"
        f"    if calls == {killing}:\n        os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.fsync = fsync\n"
        "save(ladder(), Path(sys.argv[1]))\n",
        str(tmp_path),
    )
    assert killed.returncode == -signal.SIGKILL
    left = [name for name in entries(tmp_path) if name != other.name]
    assert len(left) == 1
    assert left[0].startswith(".")
    assert runs_in(tmp_path) == [other]
    assert read_run(save(ladder(), tmp_path)) == ladder()


def _save_many(parent: Path) -> list[str]:
    return [save(ladder(), parent).name for _ in range(5)]


def test_processes_never_collide(tmp_path: Path) -> None:
    parent = tmp_path / "made by whoever is first"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        names = [name for some in pool.map(_save_many, [parent] * 4) for name in some]
    assert len(set(names)) == 20
    assert sorted(names) == entries(parent)
    assert all(read_run(parent / name) == ladder() for name in names)


def save_ladder(parent: Path) -> None:
    save(ladder(), parent)


@pytest.mark.parametrize("attempt", [save_ladder, check_writable])
@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_in_the_parents_place(
    tmp_path: Path, attempt: Callable[[Path], None], below: str
) -> None:
    (tmp_path / "file").write_text("mine")
    parent = tmp_path / "file" / below
    with pytest.raises(StorageError) as caught:
        attempt(parent)
    assert "\n" not in str(caught.value)
    assert str(parent) in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("parent", ["nul\0byte", "n" * 300])
def test_a_path_that_cannot_be(tmp_path: Path, parent: str) -> None:
    with pytest.raises(StorageError):
        save(ladder(), tmp_path / parent)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
@pytest.mark.parametrize("attempt", ["save(ladder(), parent)", "check_writable(parent)"])
def test_an_unwritable_parent(tmp_path: Path, attempt: str) -> None:
    """In a process of its own, since the superuser is refused nothing and must become another."""
    tmp_path.chmod(0o500)
    try:
        refused = python(
            "import os\n"
            "from rooflens.errors import StorageError\n"
            "from rooflens.store import check_writable\n"
            "from rooflens.store.samples_file import encode_samples\n"
            "encode_samples(ladder())\n"
            "if os.geteuid() == 0:\n    os.seteuid(65534)\n"
            "parent = Path(sys.argv[1])\n"
            f"try:\n    {attempt}\n"
            "except StorageError as error:\n    print(error)\n",
            str(tmp_path),
        )
    finally:
        tmp_path.chmod(0o700)
    assert refused.stderr == ""
    assert os.strerror(errno.EACCES) in refused.stdout
    assert entries(tmp_path) == []


def test_check_writable_leaves_only_the_parent(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "runs")
    assert entries(tmp_path / "new" / "runs") == []


def test_the_store_loads_pyarrow_only_when_needed() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import rooflens.store, sys; print('pyarrow' in sys.modules)"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "False"
