"""What all tests share: folders of their own, and the rule for tests that need a card."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Tests never depend on how fast a machine is.
settings.register_profile("rooflens", deadline=None)
settings.load_profile("rooflens")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, compiled_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test writes goes to folders of its own; compiled code is shared within a session."""
    for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    monkeypatch.setenv("ROOFLENS_CACHE_DIR", str(compiled_folder))


@pytest.fixture(scope="session")
def compiled_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compile cache of this session, empty at its start."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The repository's root; skips where the suite runs against an installed package alone."""
    if not (ROOT / "rooflens").is_dir():
        pytest.skip("no source tree beside the tests")
    return ROOT


@pytest.fixture
def nvrtc() -> tuple[int, int]:
    """NVRTC's version. Without NVRTC the test is skipped, and in CI it fails."""
    from rooflens.errors import NotAvailableError
    from rooflens.profiler.compile import nvrtc_version

    try:
        return nvrtc_version()
    except NotAvailableError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must have NVRTC: {error}")
        pytest.skip(str(error))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests below tests/gpu are marked gpu; gpu tests are skipped where no card is counted."""
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "gpu"):
            item.add_marker("gpu")
    needy = [item for item in items if item.get_closest_marker("gpu")]
    if needy and (reason := _why_no_card()):
        for item in needy:
            item.add_marker(pytest.mark.skip(reason=reason))


def _why_no_card() -> str | None:
    from rooflens.errors import NotAvailableError
    from rooflens.profiler.cuda import count_devices

    try:
        return None if count_devices() else "the driver counts no CUDA device"
    except NotAvailableError as error:
        return str(error)
