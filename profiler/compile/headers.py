"""Where CUDA's own headers lie: in wheels, in a conda environment or in a system toolkit.

cuda.pathfinder finds one header folder by its own order; here all are listed, because the one whose
version is NVRTC's must win.
"""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rooflens.errors import NotAvailableError
from rooflens.profiler.compile.nvrtc import nvrtc_version


class HeaderOrigin(StrEnum):
    """How a header folder came onto the machine."""

    WHEEL = "wheel"
    CONDA = "conda"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """CUDA's headers: the folders to search, in order, and their CUDA version ("13.0").

    label names the folder without the machine's paths. note says what is wrong with the choice,
    if anything is.
    """

    folders: tuple[Path, ...]
    origin: HeaderOrigin
    label: str
    version: str
    note: str | None = None

    def describe(self) -> str:
        """Origin, place and version with no absolute path: for a run's provenance."""
        return f"{self.origin} {self.label}, CUDA {self.version}"

    @property
    def has_crt(self) -> bool:
        """Whether the crt/ headers are there, which mma.h and cuda_runtime.h include."""
        return any((folder / "crt" / "host_defines.h").is_file() for folder in self.folders)


def find_headers(nvrtc: tuple[int, int] | None = None) -> Headers | None:
    """The best CUDA headers of this machine for an NVRTC version (None: the one in use).

    None where there are none at all.
    """
    if nvrtc is None:
        with suppress(NotAvailableError):  # then headers are reported all the same
            nvrtc = nvrtc_version()
    return choose_headers(list_headers(), nvrtc)


def list_headers(environment: Mapping[str, str] = os.environ) -> tuple[Headers, ...]:
    """All CUDA headers found: of wheels first, then named by the environment, then installed."""
    spec = importlib.util.find_spec("nvidia")
    places = spec.submodule_search_locations if spec is not None else None
    found = list(wheel_headers(Path(place) for place in places or ()))
    found += toolkit_headers(environment)
    return tuple(found)


def choose_headers(found: Iterable[Headers], nvrtc: tuple[int, int] | None) -> Headers | None:
    """The headers that suit an NVRTC best: same major, then complete, then same minor, then first.

    A choice that is not of NVRTC's major version, or lacks crt/, carries a note.
    """

    def rank(headers: Headers) -> tuple[bool, bool, bool]:
        major, minor = (int(part) for part in headers.version.split("."))
        if nvrtc is None:
            return False, not headers.has_crt, False
        return major != nvrtc[0], not headers.has_crt, minor != nvrtc[1]

    best = min(found, key=rank, default=None)
    if best is None:
        return None
    notes = []
    if rank(best)[0] and nvrtc is not None:
        notes.append(
            f"the CUDA headers are of CUDA {best.version} but NVRTC is {nvrtc[0]}.{nvrtc[1]}: "
            f"no headers of CUDA {nvrtc[0]} were found"
        )
    if not best.has_crt:
        notes.append(
            "the CUDA headers lack crt/: pip install nvidia-cuda-crt (CUDA 13) or "
            "nvidia-cuda-nvcc-cu12 (CUDA 12) for mma.h"
        )
    return replace(best, note="; ".join(notes) or None)


def wheel_headers(packages: Iterable[Path]) -> Iterator[Headers]:
    """Headers in folders named nvidia/ of site-packages: the layout of CUDA 13, then of CUDA 12."""
    for package in packages:
        for place in sorted(package.glob("cu[0-9]*/include"), reverse=True):
            label = f"nvidia/{place.parent.name}/include"
            yield from _headers_at((place,), HeaderOrigin.WHEEL, label)
        # Under CUDA 12 each wheel has its own folder, and crt/ lies in the compiler's.
        parts = [
            place
            for name in ("cuda_runtime", "cuda_nvcc", "cuda_cccl")
            if (place := package / name / "include").is_dir()
        ]
        label = " + ".join(f"nvidia/{place.parent.name}/include" for place in parts)
        yield from _headers_at(tuple(parts), HeaderOrigin.WHEEL, label)


def toolkit_headers(environment: Mapping[str, str]) -> Iterator[Headers]:
    """Headers of toolkits: CUDA_HOME, CUDA_PATH, conda, the nvcc on PATH, and the usual places."""
    roots = [
        Path(environment[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)
    ]
    for root in roots:
        yield from _headers_at((root / "include",), HeaderOrigin.SYSTEM, "toolkit")
    conda = environment.get("CONDA_PREFIX")
    if conda:
        places = [*sorted(Path(conda).glob("targets/*/include")), Path(conda) / "include"]
        places.append(Path(conda) / "Library" / "include")
        for place in places:
            yield from _headers_at((place,), HeaderOrigin.CONDA, "environment")
    usual = [Path("/usr/local/cuda"), Path("/opt/cuda")]
    nvcc = shutil.which("nvcc", path=environment.get("PATH", ""))
    # Beside /usr/bin/nvcc lie the C library's headers, which NVRTC cannot read.
    if nvcc is not None and (toolkit := Path(nvcc).resolve().parent.parent) != Path("/usr"):
        usual.insert(0, toolkit)
    for root in usual:
        yield from _headers_at((root / "include",), HeaderOrigin.SYSTEM, "toolkit")


def _headers_at(folders: tuple[Path, ...], origin: HeaderOrigin, label: str) -> Iterator[Headers]:
    """One Headers if the first of the folders holds CUDA's headers, else nothing."""
    version = _version_of(folders[0]) if folders else None
    if version is None:
        return
    # CUDA 13 moved libcu++, CUB and Thrust into a folder of their own.
    libraries = tuple(place for folder in folders if (place := folder / "cccl").is_dir())
    yield Headers(
        folders=tuple(folder.absolute() for folder in folders + libraries),
        origin=origin,
        label=label,
        version=version,
    )


def _version_of(folder: Path) -> str | None:
    """The CUDA version that the headers in a folder state, as in "13.0"; None if none does."""
    for name, macro in (("cuda.h", b"CUDA_VERSION"), ("cuda_runtime_api.h", b"CUDART_VERSION")):
        try:
            text = (folder / name).read_bytes()
        except OSError:
            continue
        found = re.search(
            rb"^[ \t]*#[ \t]*define[ \t]+" + macro + rb"[ \t]+([0-9]{4,6})\b", text, re.M
        )
        if found is not None:
            number = int(found[1])  # 1000 * major + 10 * minor
            return f"{number // 1000}.{number % 1000 // 10}"
    return None
