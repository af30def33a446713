"""docs/adding-a-kernel.md: its files, installed from a temporary folder, are a kernel."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


def blocks(text: str) -> dict[str, str]:
    """The document's code by language; each language once."""
    found = re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)
    assert len({language for language, _ in found}) == len(found)
    return dict(found)


@pytest.fixture
def installed(checkout: Path, tmp_path: Path) -> Path:
    """A folder as an installer leaves it: the package, and the entry point in its metadata."""
    code = blocks((checkout / "docs" / "adding-a-kernel.md").read_text(encoding="utf-8"))
    project = tomllib.loads(code["toml"])["project"]
    package = tmp_path / "my_kernels"
    package.mkdir()
    (package / "__init__.py").write_text(code["python"], encoding="utf-8")
    (package / "scale.cu").write_text(code["cuda"], encoding="utf-8")
    metadata = tmp_path / f"my_kernels-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        encoding="utf-8",
    )
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("".join(lines), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("nvrtc")
def test_the_documents_kernel_is_found_compiled_and_modelled(
    installed: Path, tmp_path: Path
) -> None:
    path = os.pathsep.join([str(installed), *(entry for entry in sys.path if entry)])
    arguments = ("run", "scale", "--device", "none", "--out", str(tmp_path / "runs"))
    done = subprocess.run(
        [sys.executable, "-m", "rooflens", *arguments, "--format", "json"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["results"]
    assert row["kernel"] == "scale.naive"
    assert row["resources"]["registers"] > 0
    assert row["bytes"]["compulsory"] == 2 * (1 << 20) * 4
    assert row["flops"] == {"fp32": 1 << 20}
