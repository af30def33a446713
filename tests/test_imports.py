"""What importing rooflens and its rooms brings in, seen in fresh interpreters."""

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import rooflens

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(rooflens.__path__, "rooflens.")
    if not module.name.endswith(".__main__")
)
HEAVY = {"cuda", "numpy", "pyarrow", "pandas", "rich", "typer", "platformdirs", "torch"}


def modules_after(statement: str) -> set[str]:
    """Packages that `statement` brings into a fresh interpreter, by their first name.

    What is there before it does not count: cuda-bindings 12 loads a part of itself at start-up.
    """
    code = (
        "import json, sys\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    loaded: list[str] = json.loads(done.stdout)
    return {name.partition(".")[0] for name in loaded}


def test_the_rooms_are_seen() -> None:
    """Guards the two tests below against an empty list."""
    assert {"rooflens.errors", "rooflens.kernels.spec", "rooflens.profiler.doctor"} <= set(MODULES)


def test_import_rooflens_is_light() -> None:
    assert modules_after("import rooflens") & HEAVY == set()


@pytest.mark.parametrize(
    "word", ["cost", "errors", "hardware", "measurement", "precision", "run", "terms"]
)
def test_the_vocabulary_is_light(word: str) -> None:
    assert modules_after(f"import rooflens.{word}") & HEAVY == set()


@pytest.mark.parametrize("room", ["kernels", "analysis"])
def test_rooms_without_cuda_never_load_it(room: str) -> None:
    names = [name for name in MODULES if f"{name}.".startswith(f"rooflens.{room}.")]
    assert names
    loaded = modules_after(f"import {', '.join(names)}")
    assert "cuda" not in loaded


def test_every_module_imports_with_no_cuda_installed() -> None:
    """A finder that refuses CUDA stands in for a machine without cuda-python."""
    block = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'cuda':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        f"import {', '.join(MODULES)}"
    )
    assert "cuda" not in modules_after(block)


def test_a_room_is_one_module_however_it_is_reached() -> None:
    """The links inside rooflens/ and the mapped packages must not make two copies."""
    code = (
        "import rooflens.kernels.spec, sys\n"
        "copies = [m for m in sys.modules if m.endswith('kernels.spec')]\n"
        "assert copies == ['rooflens.kernels.spec'], copies"
    )
    assert "rooflens" in modules_after(code)
