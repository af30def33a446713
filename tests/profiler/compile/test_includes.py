from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.profiler.compile.includes import Dependencies, find_dependencies

Write = Callable[..., Path]


def found(text: bytes, folder: Path, *search: Path) -> list[tuple[str, str]]:
    result = find_dependencies(text, folder, search)
    assert result.unknowable is None
    return [(each.name, each.place) for each in result.files]


def test_closure(tmp_path: Path, write: Write) -> None:
    write("own/a.cuh", '#include "sub/b.cuh"\n')
    write("own/sub/b.cuh", '#include "c.cuh"\n#include <d.cuh>\n')
    write("own/sub/c.cuh", "int c;")
    write("search/d.cuh", '#pragma once\n#include "d.cuh"\n')
    source = b'  #  include "a.cuh"\n#include <not_there.h>\n'
    assert found(source, tmp_path / "own", tmp_path / "search") == [
        ('"a.cuh"', "."),
        ('"sub/b.cuh"', "."),
        ('"c.cuh"', "."),
        ("<d.cuh>", "0"),
    ]


def test_every_match_counts(tmp_path: Path, write: Write) -> None:
    for folder in ("own", "one", "two"):
        write(f"{folder}/a.cuh", folder)
    folders = (tmp_path / "one", tmp_path / "two")
    assert found(b'#include "a.cuh"', tmp_path / "own", *folders) == [
        ('"a.cuh"', "."),
        ('"a.cuh"', "0"),
        ('"a.cuh"', "1"),
    ]
    assert found(b"#include <a.cuh>", tmp_path / "own", *folders) == [
        ("<a.cuh>", "0"),
        ("<a.cuh>", "1"),
    ]


@pytest.mark.parametrize(
    "directive",
    [
        b'#include "a.cuh"',
        b'int x; // y\n\t # \t include\t"a.cuh" // why',
        b'%:include "a.cuh"',
        b'#include_next "a.cuh"',
        b'#inc\\\nlude "a.cuh"',
        b'#include \\\r\n "a.cuh"\r\n',
        b'/* c */ #include "a.cuh"',
        b'#/* c */include/* d */"a.cuh"',
        b'/* over\nlines */ # include "a.cuh"',
        b'#if 0\n#include "a.cuh"\n#endif',
        b'// #include NAME\n#include "a.cuh"',
        b'#if __has_include("a.cuh")\n#endif',
        b'char q = \'"\'; /* "\n*/\n#/**/include "a.cuh"',
        b"int big = 1'000'000; /* ' */\n#/**/include \"a.cuh\"",
        b'auto r = R"x( /* )" )x";\n#/**/include "a.cuh"',
    ],
)
def test_directives(directive: bytes, tmp_path: Path, write: Write) -> None:
    write("a.cuh", "int a;")
    assert found(directive, tmp_path) == [('"a.cuh"', ".")]


@pytest.mark.parametrize(
    "text",
    [
        b'// #include "gone.cuh"',
        b'/*\n#include "gone.cuh"\n#include NAME\n*/',
        b"// #include NAME",
        b'"#include NAME"',
        b"#includes NAME",
        b"// __TIME__",
        b"",
        b"#include",
        b'#include "a\0b"',
        b"#include <" + b"x" * 5000 + b">",
        b"\xff\xfe#\0i\0",
    ],
)
def test_harmless(text: bytes, tmp_path: Path) -> None:
    assert found(text, tmp_path, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"#include NAME\n", "NAME"),
        (b"  # include CONCAT(a, b)\n", "CONCAT"),
        (b"#/* */include NAME", "NAME"),
        (b"int t = f(__TIME__);", "__TIME__"),
    ],
)
def test_unknowable(text: bytes, reason: str, tmp_path: Path, write: Write) -> None:
    result = find_dependencies(text, tmp_path, ())
    assert result.unknowable is not None
    assert reason in result.unknowable
    write("a.cuh", text)
    nested = find_dependencies(b'#include "a.cuh"', tmp_path, ())
    assert nested.unknowable is not None
    assert '"a.cuh"' in nested.unknowable


def test_endless_chain_ends(tmp_path: Path, write: Write) -> None:
    write("x/self.h", '#include "../x/self.h"\n#include "../y/self.h"\n')
    (tmp_path / "y").symlink_to(tmp_path / "x")
    (tmp_path / "x" / "loop.h").symlink_to(tmp_path / "x" / "loop.h")
    (tmp_path / "x" / "folder.h").mkdir()
    text = b'#include "self.h"\n#include "loop.h"\n#include "folder.h"\n'
    assert found(text, tmp_path / "x") == [('"self.h"', ".")]


def test_non_ascii_names(tmp_path: Path, write: Write) -> None:
    write("größe x.cuh", "int a;")
    assert found('#include "größe x.cuh"'.encode(), tmp_path) == [('"größe x.cuh"', ".")]


def test_no_path_in_the_result(tmp_path: Path, write: Write) -> None:
    results: list[Dependencies] = []
    for tree in ("one", "two/deeper"):
        write(f"{tree}/own/a.cuh", "#include <b.cuh>\n")
        write(f"{tree}/lib/b.cuh", "int b;")
        folder = tmp_path / tree
        results.append(find_dependencies(b'#include "a.cuh"', folder / "own", [folder / "lib"]))
    assert results[0] == results[1]
    assert len(results[0].files) == 2


@given(st.binary(max_size=300))
def test_any_bytes(text: bytes) -> None:
    assert find_dependencies(text, Path("/nowhere"), ()).files == ()


@given(st.text(alphabet="ab \"'\\/*\nR()#0", max_size=60))
def test_a_plain_directive_is_never_missed(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "known.cuh").write_text("int a;")
    source = f'{text}\n#include "known.cuh"\n'.encode()
    if source.replace(b" ", b"").split(b"\n#inc")[0].endswith(b"\\"):
        return  # the directive's line continues another
    assert '"known.cuh"' in [each.name for each in find_dependencies(source, folder, ()).files]
