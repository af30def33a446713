"""Compile: CUDA source to code for an exact architecture, with no GPU and no driver needed."""

from rooflens.profiler.compile.architecture import Architecture, CodeKind, Target, choose_target
from rooflens.profiler.compile.cache import CompileCache
from rooflens.profiler.compile.compiler import CompiledCode, compile_source
from rooflens.profiler.compile.cubin import CubinEntry, ParameterLayout, read_cubin
from rooflens.profiler.compile.headers import HeaderOrigin, Headers, find_headers
from rooflens.profiler.compile.nvrtc import nvrtc_version, supported_architectures

__all__ = [
    "Architecture",
    "CodeKind",
    "CompileCache",
    "CompiledCode",
    "CubinEntry",
    "HeaderOrigin",
    "Headers",
    "ParameterLayout",
    "Target",
    "choose_target",
    "compile_source",
    "find_headers",
    "nvrtc_version",
    "read_cubin",
    "supported_architectures",
]
