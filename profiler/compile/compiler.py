"""From a CUDA source to code for one architecture, with what is known of it."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rooflens.errors import CompileError, DataFormatError, UsageError
from rooflens.measurement import Resources
from rooflens.profiler.compile.architecture import Architecture, CodeKind, Target, choose_target
from rooflens.profiler.compile.cache import CacheEntry, CompileCache
from rooflens.profiler.compile.cubin import ParameterLayout, read_cubin
from rooflens.profiler.compile.headers import Headers, find_headers
from rooflens.profiler.compile.includes import Dependencies, find_dependencies
from rooflens.profiler.compile.nvrtc import (
    compile_program,
    nvrtc_build,
    nvrtc_version,
    supported_architectures,
)
from rooflens.profiler.compile.ptx import read_ptx
from rooflens.profiler.compile.resources import parse_resources

_STANDARD = "--std=c++17"
_ALWAYS = ("-lineinfo", "--ptxas-options=-v")
_PTXAS_MARK = "Compiling entry function"  # in the log of every cubin that ptxas has made
# What has a parameter of its own here, and would make the hash or the target untrue as an option.
_RESERVED = re.compile(
    r"(-I|--include-path|-include|--pre-include|-arch|--gpu-architecture|-D|--define-macro"
    r"|-dlto|--dlink-time-opt|--?(?:use-|create-)?pch)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCode:
    """Code for one architecture, and what is known of it.

    target: "sm_89", or "compute_90" for PTX. entries: resources by entry point, as ptxas reports
    them; None for PTX, whose machine code the driver makes. parameters: layouts by entry point, in
    order. source_hash: SHA-256 over the source, the included files, the options and the target,
    with no path in it; None where a file's name cannot be known from the text. headers: the CUDA
    headers in use, with no path. notes: what a reader of the numbers should know. from_cache: the
    code was compiled before; its log is of then.
    """

    code: bytes = field(repr=False)
    kind: CodeKind
    target: str
    entries: Mapping[str, Resources | None]
    parameters: Mapping[str, tuple[ParameterLayout, ...]]
    log: str = field(repr=False)
    source_hash: str | None
    nvrtc_version: tuple[int, int]
    headers: str | None
    notes: tuple[str, ...] = ()
    from_cache: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """All that goes into one compilation."""

    path: Path
    source: bytes
    target: Target
    flags: tuple[str, ...]  # without the target and the folders
    folders: tuple[Path, ...]
    headers: Headers | None

    @property
    def options(self) -> tuple[str, ...]:
        search = (f"-I{folder}" for folder in self.folders)
        return (f"--gpu-architecture={self.target.name}", *self.flags, *search)

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(os.fsdecode(place) for place in (self.path, *self.folders))

    def dependencies(self) -> Dependencies:
        return find_dependencies(self.source, self.path.parent, self.folders)


def compile_source(
    path: Path,
    *,
    architecture: Architecture,
    defines: Mapping[str, str] | None = None,
    options: tuple[str, ...] = (),
    include_folders: tuple[Path, ...] = (),
    cache: CompileCache | None,
) -> CompiledCode:
    """Compile a .cu file for an architecture, or take it from the cache. Needs no GPU.

    defines are -D names and values; options are further NVRTC options; include_folders are
    searched before CUDA's own, and #include "x" looks in the including file's folder first. A
    cache that cannot be written is noted and does no harm. A tree that was moved still hits the
    cache; line information and __FILE__ then name the folder of before, which is noted.

    UsageError: no such file, or an option that has its own parameter. DataFormatError: the file is
    empty or not text. CompileError: NVRTC refused it, or it holds no kernel. NotAvailableError: no
    NVRTC, or one that does not know so old a card. NotSupportedError: no such "a" feature.
    """
    job = _prepared(path, architecture, defines or {}, options, include_folders)
    dependencies = job.dependencies()
    source_hash = None if dependencies.unknowable else _source_hash(job, dependencies)
    notes = [note for note in (job.target.note, job.headers and job.headers.note) if note]
    if source_hash is None:
        notes.append(f"not cached and without a source hash: {dependencies.unknowable}")
        return _finished(job, _compiled(job), None, notes)
    key = hashlib.sha256(f"{source_hash}\n{nvrtc_build()}".encode()).hexdigest()
    entry = cache.load(key) if cache is not None else None
    if entry is not None:
        if entry.places != job.places:
            notes.append(
                "compiled before in another folder, which line information and __FILE__ name"
            )
        return _finished(job, entry, source_hash, notes, from_cache=True)
    entry = _compiled(job)
    if job.dependencies() != dependencies:
        notes.append("not cached and without a source hash: an included file has just changed")
        return _finished(job, entry, None, notes)
    code = _finished(job, entry, source_hash, notes)  # only code that can be read is kept
    failure = cache.store(key, entry) if cache is not None else None
    return code if failure is None else _finished(job, entry, source_hash, [*notes, failure])


def _prepared(
    path: Path,
    architecture: Architecture,
    defines: Mapping[str, str],
    options: tuple[str, ...],
    include_folders: tuple[Path, ...],
) -> _Job:
    flags = [*_checked_options(options), *_ALWAYS]
    if not any(re.match(r"(--std|-std)\b", option) for option in options):
        flags.append(_STANDARD)
    for name, value in defines.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or "\0" in value:
            raise UsageError(f"cannot define {name!r} as {value!r}; a name is letters, digits, _")
        flags.append(f"-D{name}={value}")
    source = _read_source(path)
    headers = find_headers(nvrtc_version())
    folders = (folder.absolute() for folder in include_folders)
    return _Job(
        path=path.absolute(),
        source=source,
        target=choose_target(architecture, supported_architectures()),
        flags=tuple(flags),
        folders=(*folders, *(headers.folders if headers is not None else ())),
        headers=headers,
    )


def _checked_options(options: tuple[str, ...]) -> tuple[str, ...]:
    for option in options:
        if _RESERVED.match(option) or not option.startswith("-") or "\0" in option:
            raise UsageError(
                f"option {option!r} cannot be given here: write options as one word each; folders, "
                f"defines and the architecture have their own parameters"
            )
    return options


def _read_source(path: Path) -> bytes:
    """A source's bytes as they stand on disk; any encoding that keeps ASCII serves, as for nvcc."""
    try:
        source = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read the CUDA source {path}: {reason}") from error
    if not source.strip():
        raise DataFormatError("the CUDA source is empty", path=str(path))
    if b"\0" in source:
        line = source.count(b"\n", 0, source.index(b"\0")) + 1
        raise DataFormatError(
            "a NUL byte: expected C++ text in UTF-8 (is it UTF-16, or a binary?)",
            path=str(path),
            line=line,
        )
    return source


def _source_hash(job: _Job, dependencies: Dependencies) -> str:
    parts = {
        "source": hashlib.sha256(job.source).hexdigest(),
        "includes": [[each.name, each.place, each.digest] for each in dependencies.files],
        "options": job.flags,
        "target": job.target.name,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()


def _compiled(job: _Job) -> CacheEntry:
    """Run NVRTC; CompileError with its log where it refuses."""
    is_ptx = job.target.kind is CodeKind.PTX
    source = job.source.removeprefix(b"\xef\xbb\xbf")  # a byte order mark NVRTC cannot read
    name = os.fsencode(job.path)
    options = [os.fsencode(option) for option in job.options]
    outcome = compile_program(source, name=name, options=options, ptx=is_ptx)
    if outcome.code and not is_ptx and _PTXAS_MARK not in outcome.log:
        # With a driver, NVRTC 13 keeps a cache of its own, and a hit comes without ptxas's report.
        # Older versions have no such cache and refuse the option; a program without a kernel, which
        # has no report either, is then left as it is.
        again = compile_program(source, name=name, options=[*options, b"--no-cache"])
        outcome = again if again.code else outcome
    if not outcome.code:
        message = f"{job.path}: NVRTC cannot compile it for {job.target.name}"
        advice = _header_advice(job.headers, outcome.log)
        raise CompileError(
            f"{message} ({advice})" if advice else message, log=outcome.log, options=job.options
        )
    return CacheEntry(
        kind=job.target.kind,
        target=job.target.name,
        log=outcome.log,
        places=job.places,
        code=outcome.code,
    )


def _header_advice(headers: Headers | None, log: str) -> str | None:
    """What to do about a header that NVRTC did not find; None where that was not the matter."""
    missing = re.search(r'c(?:annot|ould not) open source file "([^"]+)"', log)
    if missing is None:
        return None
    if headers is None:
        return "no CUDA headers were found: pip install 'rooflens[cuda13]', or set CUDA_HOME"
    if re.match(r"(nv|cuda|cub|thrust)/", missing[1]):
        # cooperative_groups.h asks for nv/target, which is in a wheel of its own.
        return (
            f"{missing[1]} belongs to CUDA's C++ libraries: pip install nvidia-cuda-cccl "
            f"(CUDA 13) or nvidia-cuda-cccl-cu12 (CUDA 12)"
        )
    return headers.note


def _finished(
    job: _Job,
    entry: CacheEntry,
    source_hash: str | None,
    notes: list[str],
    *,
    from_cache: bool = False,
) -> CompiledCode:
    """What the code and the log say, put together; CompileError where there is no kernel in it."""
    entries, parameters = _described(entry, str(job.path))
    if not entries:
        raise CompileError(
            f"{job.path}: it compiles but holds no kernel; expected a __global__ function "
            f'(extern "C", or an instantiated template)',
            log=entry.log,
            options=job.options,
        )
    return CompiledCode(
        code=entry.code,
        kind=entry.kind,
        target=entry.target,
        entries=entries,
        parameters=parameters,
        log=entry.log,
        source_hash=source_hash,
        nvrtc_version=nvrtc_version(),
        headers=job.headers.describe() if job.headers is not None else None,
        notes=tuple(notes),
        from_cache=from_cache,
    )


def _described(
    entry: CacheEntry, path: str
) -> tuple[Mapping[str, Resources | None], Mapping[str, tuple[ParameterLayout, ...]]]:
    """Resources and parameters by entry point; the log and the cubin must agree."""
    if entry.kind is CodeKind.PTX:
        layouts = read_ptx(entry.code.rstrip(b"\0").decode("utf-8", "replace"), path=path)
        return dict.fromkeys(layouts), layouts
    resources = parse_resources(entry.log, path=path)
    cubin = read_cubin(entry.code, path=path)
    if resources.keys() != cubin.keys():
        raise DataFormatError(
            f"the log names entry points {sorted(resources)} but the code has {sorted(cubin)}",
            path=path,
            field="ptxas log",
        )
    for name, read in cubin.items():
        if read.registers is not None and read.registers != resources[name].registers:
            raise DataFormatError(
                f"{name}: {resources[name].registers} registers, but {read.registers} in the code",
                path=path,
                field="ptxas log",
            )
    return resources, {name: read.parameters for name, read in cubin.items()}
