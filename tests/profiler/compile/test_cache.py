import errno
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from rooflens.profiler.compile import CodeKind, CompileCache
from rooflens.profiler.compile.cache import CacheEntry

KEY = "ab" * 32


def entry(code: bytes = b"\x7fELF\n\0code") -> CacheEntry:
    return CacheEntry(
        kind=CodeKind.CUBIN, target="sm_89", log="größe\n", places=("/a\udcff",), code=code
    )


def only_file(cache: CompileCache) -> Path:
    (path,) = cache.folder.iterdir()
    return path


def test_round_trip(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "größe x" / "cubin")
    assert cache.load(KEY) is None
    assert cache.store(KEY, entry()) is None
    assert cache.load(KEY) == entry()
    assert cache.load("cd" * 32) is None
    assert cache.store(KEY, entry(b"newer")) is None
    assert cache.load(KEY) == entry(b"newer")
    only_file(cache)


def test_every_truncation_and_every_flip_is_seen(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.store(KEY, entry())
    path = only_file(cache)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert cache.load(KEY) is None
        path.write_bytes(whole[:length] + bytes([whole[length] ^ 1]) + whole[length + 1 :])
        assert cache.load(KEY) is None
    path.write_bytes(whole + b"\0")
    assert cache.load(KEY) is None
    assert cache.store(KEY, entry()) is None
    assert cache.load(KEY) == entry()


def test_an_entry_of_another_key_is_foreign(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.store(KEY, entry())
    other = "cd" * 32
    only_file(cache).rename(tmp_path / f"{other}.bin")
    assert cache.load(other) is None


def test_a_folder_in_the_entrys_place(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    (tmp_path / f"{KEY}.bin").mkdir()
    assert cache.load(KEY) is None
    failure = cache.store(KEY, entry())
    assert failure is not None
    assert list(tmp_path.glob(".*")) == []


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir"])
def test_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: str) -> None:
    cache = CompileCache(tmp_path / "cubin")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        failure = cache.store(KEY, entry())
    assert failure == ("the compiled code could not be kept in the cache: No space left on device")
    assert list(tmp_path.rglob("*.*")) == []  # no half-written file stays
    assert cache.load(KEY) is None
    assert cache.store(KEY, entry()) is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_device_that_is_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def on_full_device(**_: Any) -> tuple[int, str]:
        name = tmp_path / "temporary.tmp"
        name.touch()
        return os.open("/dev/full", os.O_WRONLY), str(name)

    monkeypatch.setattr("tempfile.mkstemp", on_full_device)
    failure = CompileCache(tmp_path).store(KEY, entry(bytes(100_000)))
    assert failure is not None
    assert "No space left" in failure
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = CompileCache(tmp_path / "file" / "cubin")
    assert cache.load(KEY) is None
    failure = cache.store(KEY, entry())
    assert failure is not None
    assert str(tmp_path) not in failure


def test_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROOFLENS_CACHE_DIR", str(tmp_path / "x"))
    assert CompileCache.default().folder == tmp_path / "x" / "cubin"
    monkeypatch.setenv("ROOFLENS_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = CompileCache.default().folder
    assert folder.name == "cubin"
    assert "rooflens" in folder.parts


def _write_and_read(folder: str, number: int, wrong: Any) -> None:
    """Store one of two versions again and again, and count what is read that is neither."""
    cache = CompileCache(Path(folder))
    versions = [entry(bytes([digit]) * 200_000) for digit in (0, 1)]
    for _ in range(60):
        failure = cache.store(KEY, versions[number % 2])
        if failure is not None or cache.load(KEY) not in versions:
            with wrong.get_lock():
                wrong.value += 1


def test_processes_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    wrong = context.Value("i", 0)
    workers = [
        context.Process(target=_write_and_read, args=(str(tmp_path), number, wrong))
        for number in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert wrong.value == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{KEY}.bin"]
