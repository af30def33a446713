from dataclasses import replace
from pathlib import Path

import pytest

from rooflens.errors import NotAvailableError
from rooflens.profiler.compile import HeaderOrigin, Headers, find_headers
from rooflens.profiler.compile import headers as module
from rooflens.profiler.compile.headers import (
    choose_headers,
    list_headers,
    toolkit_headers,
    wheel_headers,
)


def make(folder: Path, version: int | None, *, crt: bool = True) -> Path:
    """A header folder whose cuda.h states a CUDA_VERSION."""
    folder.mkdir(parents=True)
    line = "// CUDA_VERSION 1\n" if version is None else f"  #  define CUDA_VERSION  {version}\n"
    (folder / "cuda.h").write_text(f"/* x */\n{line}")
    if crt:
        (folder / "crt").mkdir()
        (folder / "crt" / "host_defines.h").touch()
    return folder


def headers(version: str, folder: Path = Path("/nowhere")) -> Headers:
    return Headers(folders=(folder,), origin=HeaderOrigin.SYSTEM, label="toolkit", version=version)


def test_wheel_of_cuda_13(tmp_path: Path) -> None:
    folder = make(tmp_path / "nvidia" / "cu13" / "include", 13050)
    (found,) = wheel_headers([tmp_path / "nvidia"])
    assert found.folders == (folder,)
    assert (found.origin, found.version) == (HeaderOrigin.WHEEL, "13.5")
    assert found.describe() == "wheel nvidia/cu13/include, CUDA 13.5"
    assert str(tmp_path) not in found.describe()


def test_wheels_of_cuda_12(tmp_path: Path) -> None:
    runtime = make(tmp_path / "cuda_runtime" / "include", 12090, crt=False)
    compiler = tmp_path / "cuda_nvcc" / "include"
    (compiler / "crt").mkdir(parents=True)
    (compiler / "crt" / "host_defines.h").touch()
    (found,) = wheel_headers([tmp_path])
    assert found.folders == (runtime, compiler)
    assert found.has_crt
    assert found.describe() == (
        "wheel nvidia/cuda_runtime/include + nvidia/cuda_nvcc/include, CUDA 12.9"
    )


def test_libraries_of_cuda_13_are_a_folder_of_their_own(tmp_path: Path) -> None:
    folder = make(tmp_path / "cu13" / "include", 13000)
    (folder / "cccl").mkdir()
    (found,) = wheel_headers([tmp_path])
    assert found.folders == (folder, folder / "cccl")


def test_no_version_is_no_headers(tmp_path: Path) -> None:
    make(tmp_path / "cu13" / "include", None)
    (tmp_path / "cuda_nvcc" / "include").mkdir(parents=True)
    assert list(wheel_headers([tmp_path, tmp_path / "absent"])) == []


def test_version_from_the_runtime(tmp_path: Path) -> None:
    folder = tmp_path / "cu13" / "include"
    folder.mkdir(parents=True)
    (folder / "cuda_runtime_api.h").write_text("#define CUDART_VERSION  13010\n")
    (found,) = wheel_headers([tmp_path])
    assert found.version == "13.1"


def test_toolkits_in_order(tmp_path: Path) -> None:
    home = make(tmp_path / "home é x" / "include", 13020)
    path = make(tmp_path / "path" / "include", 12040)
    conda = make(tmp_path / "conda" / "targets" / "x86_64-linux" / "include", 12060)
    nvcc = tmp_path / "own" / "bin" / "nvcc"
    own = make(tmp_path / "own" / "include", 12010)
    nvcc.parent.mkdir()
    nvcc.touch(mode=0o755)
    found = list(
        toolkit_headers(
            {
                "CUDA_HOME": str(home.parent),
                "CUDA_PATH": str(path.parent),
                "CONDA_PREFIX": str(tmp_path / "conda"),
                "PATH": str(nvcc.parent),
            }
        )
    )
    assert [each.folders[0] for each in found[:4]] == [home, path, conda, own]
    assert found[0].describe() == "system toolkit, CUDA 13.2"
    assert found[2].describe() == "conda environment, CUDA 12.6"


def test_environment_may_be_empty_or_wrong() -> None:
    found = list(toolkit_headers({"CUDA_HOME": "", "CUDA_PATH": "/no/such/folder"}))
    assert all(each.origin is HeaderOrigin.SYSTEM for each in found)  # the usual places alone


def test_choice_prefers_nvrtcs_major_then_minor() -> None:
    found = [headers("12.9"), headers("13.0"), headers("13.5")]
    assert choose_headers(found, (13, 5)) == replace(found[2], note=_crt_note())
    assert choose_headers(found, (13, 2)) == replace(found[1], note=_crt_note())
    assert choose_headers(found, (12, 4)) == replace(found[0], note=_crt_note())


def test_choice_prefers_complete_headers(tmp_path: Path) -> None:
    bare = headers("13.5", make(tmp_path / "bare", 13050, crt=False))
    whole = headers("13.0", make(tmp_path / "whole", 13000))
    assert choose_headers([bare, whole], (13, 5)) == whole


def test_choice_says_when_no_major_matches(tmp_path: Path) -> None:
    chosen = choose_headers([headers("12.9", make(tmp_path / "x", 12090))], (13, 1))
    assert chosen is not None
    assert chosen.note == (
        "the CUDA headers are of CUDA 12.9 but NVRTC is 13.1: no headers of CUDA 13 were found"
    )


def test_choice_without_nvrtc_or_headers(tmp_path: Path) -> None:
    assert choose_headers([], (13, 0)) is None
    only = headers("11.8", make(tmp_path / "x", 11080))
    assert choose_headers([only], None) == only


def test_find_without_nvrtc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> tuple[int, int]:
        raise NotAvailableError("no NVRTC", "install it")

    only = headers("11.8", make(tmp_path / "x", 11080))
    monkeypatch.setattr(module, "nvrtc_version", missing)
    monkeypatch.setattr(module, "list_headers", lambda: (only,))
    assert find_headers() == only


def test_find_on_this_machine(nvrtc: tuple[int, int]) -> None:
    found = find_headers()
    if not any(each.version.split(".")[0] == str(nvrtc[0]) for each in list_headers()):
        pytest.skip("no CUDA headers of NVRTC's version on this machine")
    assert found is not None
    assert found.version.split(".")[0] == str(nvrtc[0])
    assert not any(str(folder) in found.describe() for folder in found.folders)


def _crt_note() -> str:
    chosen = choose_headers([headers("13.5")], (13, 5))
    assert chosen is not None
    assert chosen.note is not None
    assert "crt/" in chosen.note
    return chosen.note
