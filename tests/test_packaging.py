"""The package list, the links and the built archives hold what is on disk, and nothing else."""

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rooflens.version import VERSION

ROOMS = ("analysis", "kernels", "profiler")
DATA_SUFFIXES = {".cu", ".cuh", ".csv", ".json", ".parquet", ".typed"}


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict[str, Any]:
    return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))


def own_files(checkout: Path) -> dict[str, Path]:
    """Every file below the package folders, by its name in a wheel ("rooflens/kernels/spec.py")."""
    found: dict[str, Path] = {}
    for folder, prefix in (
        ("rooflens", "rooflens"),
        *((room, f"rooflens/{room}") for room in ROOMS),
    ):
        base = checkout / folder
        for path in sorted(base.rglob("*")):
            inside = path.relative_to(base)
            linked = folder == "rooflens" and inside.parts[0] in ROOMS
            if path.is_file() and not linked and "__pycache__" not in inside.parts:
                found[f"{prefix}/{inside.as_posix()}"] = path
    return found


def expected_in_wheel(checkout: Path) -> set[str]:
    return {
        name
        for name, path in own_files(checkout).items()
        if path.suffix == ".py" or path.suffix in DATA_SUFFIXES
    }


def test_the_package_list_is_the_folders_on_disk(checkout: Path, project: dict[str, Any]) -> None:
    on_disk = {
        name.removesuffix("/__init__.py").replace("/", ".")
        for name in own_files(checkout)
        if name.endswith("/__init__.py")
    }
    listed = project["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(on_disk)


def test_every_folder_with_python_files_is_a_package(checkout: Path) -> None:
    names = own_files(checkout)
    folders = {name.rpartition("/")[0] for name in names if name.endswith(".py")}
    assert [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in names] == []


def test_every_file_is_python_or_known_data(checkout: Path) -> None:
    strangers = set(own_files(checkout)) - expected_in_wheel(checkout)
    assert strangers == set(), "give these a package-data pattern, or another place"


def test_rooms_are_mapped_and_linked(checkout: Path, project: dict[str, Any]) -> None:
    mapping = project["tool"]["setuptools"]["package-dir"]
    assert mapping == {"rooflens": "rooflens"} | {f"rooflens.{room}": room for room in ROOMS}
    for room in ROOMS:
        link = checkout / "rooflens" / room
        assert link.is_symlink()
        assert link.readlink() == Path("..") / room


def test_pyright_walks_every_room(project: dict[str, Any]) -> None:
    included = set(project["tool"]["pyright"]["include"])
    assert included == {"rooflens", "tests", *(f"rooflens/{room}" for room in ROOMS)}


def test_dependencies_need_no_gpu_stack(project: dict[str, Any]) -> None:
    base = project["project"]["dependencies"]
    assert not [entry for entry in base if entry.startswith(("cuda", "nvidia", "torch", "cupy"))]


def test_the_version_is_written_once(project: dict[str, Any]) -> None:
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "rooflens.version.VERSION"
    }


def test_the_installed_version_is_the_source_version() -> None:
    try:
        installed = importlib.metadata.version("rooflens")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("rooflens runs from its source tree, not installed")
    assert installed == VERSION


@pytest.fixture(scope="module")
def archives(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """sdist and wheel, built from a copy of the tree, the wheel from the sdist."""
    missing = [name for name in ("build", "setuptools") if not importlib.util.find_spec(name)]
    if missing or int(importlib.metadata.version("setuptools").split(".")[0]) < 77:
        pytest.skip("building needs the packages build and setuptools>=77")
    tree = tmp_path_factory.mktemp("tree with space") / "rooflens"
    tree.mkdir()
    for name in ("rooflens", "tests", *ROOMS):
        shutil.copytree(
            checkout / name,
            tree / name,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    for path in checkout.iterdir():
        if path.is_file():
            shutil.copy(path, tree)
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


@pytest.mark.slow
def test_the_wheel_holds_every_file_and_no_other(
    checkout: Path, archives: tuple[Path, Path]
) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert names == expected_in_wheel(checkout)
        for name, path in own_files(checkout).items():
            assert wheel.read(name) == path.read_bytes(), name


@pytest.mark.slow
def test_the_sdist_holds_the_tests_with_their_data(
    checkout: Path, archives: tuple[Path, Path]
) -> None:
    with tarfile.open(archives[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    tests = {
        path.relative_to(checkout).as_posix()
        for path in (checkout / "tests").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tests - names == set()
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names


@pytest.mark.slow
def test_the_license_travels_in_the_wheel(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        (license_name,) = [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]
        assert b"Apache License" in wheel.read(license_name)
