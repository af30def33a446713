"""compile_source with a cache: what hits, what misses, and what goes wrong without harm."""

import multiprocessing
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rooflens.errors import CompileError
from rooflens.profiler.compile import (
    Architecture,
    CompileCache,
    CompiledCode,
    compile_source,
    compiler,
)
from rooflens.profiler.compile.nvrtc import compile_program

Write = Callable[..., Path]
SM_89 = Architecture(8, 9)
pytestmark = pytest.mark.usefixtures("nvrtc")


def build(path: Path, *, cache: CompileCache) -> CompiledCode:
    return compile_source(path, architecture=SM_89, cache=cache)


@pytest.fixture
def cache(tmp_path: Path) -> CompileCache:
    return CompileCache(tmp_path / "cache")


def same(one: CompiledCode, other: CompiledCode) -> bool:
    """Equal in all but where they come from."""
    return replace(one, from_cache=False, notes=()) == replace(other, from_cache=False, notes=())


def test_hit(data: Path, cache: CompileCache) -> None:
    first = build(data / "parameters.cu", cache=cache)
    second = build(data / "parameters.cu", cache=cache)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert same(first, second)
    assert second.notes == ()


def test_what_makes_it_miss(
    write: Write, cache: CompileCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = '#include "a.cuh"\n#include <b.cuh>\nextern "C" __global__ void k(int* x) { *x = A; }'
    path = write("own/k.cu", text)
    header = write("own/a.cuh", '#include "deep.cuh"\n')
    deep = write("own/deep.cuh", "#define A 1\n")
    library = write("lib/b.cuh", "#define B 1\n")

    def compiled(**more: object) -> CompiledCode:
        arguments: dict[str, object] = {"architecture": SM_89, "cache": cache}
        arguments["include_folders"] = (tmp_path / "lib",)
        return compile_source(path, **(arguments | more))  # type: ignore[arg-type]

    hashes = [compiled().source_hash]

    def changed(code: CompiledCode) -> None:
        assert not code.from_cache
        assert code.source_hash not in hashes
        hashes.append(code.source_hash)

    deep.write_text("#define A 2\n")
    changed(compiled())
    header.write_text('#include "deep.cuh" // a comment\n')
    changed(compiled())
    library.write_text("#define B 2\n")
    changed(compiled())
    path.write_text(text + "// a comment\n")
    changed(compiled())
    changed(compiled(architecture=Architecture(8, 6)))
    changed(compiled(architecture=Architecture(9, 0)))
    changed(compiled(architecture=Architecture(9, 0, "a")))
    changed(compiled(defines={"C": "1"}))
    changed(compiled(defines={"C": "2"}))
    changed(compiled(options=("--use_fast_math",)))
    changed(compiled(options=("--maxrregcount=32",)))
    monkeypatch.setattr(compiler, "nvrtc_build", lambda: "99.9")
    code = compiled()
    assert not code.from_cache
    assert code.source_hash in hashes  # the source is the same; the compiler is not
    assert compiled().from_cache


def test_a_header_that_appears_in_front(write: Write, cache: CompileCache) -> None:
    path = write("k.cu", '#include <b.cuh>\nextern "C" __global__ void k(int* x) { *x = B; }')
    later = write("later/b.cuh", "#define B 2\n").parent
    first = path.parent / "first"

    def compiled() -> CompiledCode:
        folders = (first, later)
        return compile_source(path, architecture=SM_89, include_folders=folders, cache=cache)

    compiled()
    assert compiled().from_cache
    write("first/b.cuh", "#define B 1\n")
    assert not compiled().from_cache


def test_a_moved_tree_hits(write: Write, cache: CompileCache, tmp_path: Path) -> None:
    path = write("one/k.cu", '#include "a.cuh"\nextern "C" __global__ void k(int* x) { *x = A; }')
    write("one/a.cuh", "#define A 1\n")
    first = build(path, cache=cache)
    shutil.copytree(tmp_path / "one", tmp_path / "größe two")
    moved = build(tmp_path / "größe two" / "k.cu", cache=cache)
    assert moved.from_cache
    assert same(first, moved)
    assert "another folder" in moved.notes[0]
    assert str(tmp_path) not in moved.notes[0]


def test_a_macro_include_is_not_kept(write: Write, cache: CompileCache) -> None:
    text = '#define NAME "a.cuh"\n#include NAME\nextern "C" __global__ void k(int* x) { *x = A; }'
    path = write("k.cu", text)
    header = write("a.cuh", "#define A 1\n")
    first = build(path, cache=cache)
    header.write_text("#define A 2\n")
    second = build(path, cache=cache)
    assert not second.from_cache
    assert first.code != second.code
    assert second.source_hash is None
    assert "NAME" in second.notes[0]
    assert not cache.folder.exists()


def test_a_damaged_entry_is_written_anew(write: Write, cache: CompileCache) -> None:
    path = write()
    first = build(path, cache=cache)
    (kept,) = cache.folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-7])
    again = build(path, cache=cache)
    assert not again.from_cache
    assert again.entries == first.entries
    assert build(path, cache=cache).from_cache


def test_a_full_disk_does_no_harm(
    write: Write, cache: CompileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "replace", full)
    code = build(write(), cache=cache)
    assert code.entries.keys() == {"saxpy"}
    assert code.notes == (
        "the compiled code could not be kept in the cache: No space left on device",
    )
    assert list(cache.folder.iterdir()) == []


def test_refused_code_is_not_kept(write: Write, cache: CompileCache) -> None:
    for text in ("__global__ void k() { x; }", "__device__ int f() { return 1; }"):
        with pytest.raises(CompileError):
            build(write(text=text), cache=cache)
    assert not cache.folder.exists()


def test_an_include_that_changes_meanwhile(
    write: Write, cache: CompileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("k.cu", '#include "a.cuh"\nextern "C" __global__ void k(int* x) { *x = A; }')
    header = write("a.cuh", "#define A 1\n")
    real = compile_program

    def slow(*args: bytes, **more: object) -> object:
        header.write_text("#define A 2\n")
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(compiler, "compile_program", slow)
    code = build(path, cache=cache)
    assert code.source_hash is None
    assert "has just changed" in code.notes[0]
    assert not cache.folder.exists()


def test_two_processes(data: Path, cache: CompileCache) -> None:
    context = multiprocessing.get_context("spawn")
    arguments = [(str(data / "parameters.cu"), str(cache.folder))] * 3
    with context.Pool(3) as pool:
        codes = pool.starmap(_build_elsewhere, arguments)
    assert same(codes[0], codes[1])
    assert same(codes[0], codes[2])
    assert build(data / "parameters.cu", cache=cache).from_cache
    assert len(list(cache.folder.iterdir())) == 1


def _build_elsewhere(path: str, folder: str) -> CompiledCode:
    code = build(Path(path), cache=CompileCache(Path(folder)))
    return replace(code, log="", code=b"")  # the log holds the time that ptxas took
