"""The doctor's judgement on made-up machines, and that looking at this one never raises."""

import dataclasses
import json
from pathlib import Path

import pytest

from rooflens.cli.doctor import print_report
from rooflens.cli.options import TextFormat
from rooflens.errors import NotAvailableError
from rooflens.profiler import doctor
from rooflens.profiler.compile import HeaderOrigin, Headers
from rooflens.profiler.doctor import Check, Machine, Problem, State, can_run, diagnose, examine
from rooflens.profiler.doctor.machine import (
    attempt,
    driver_release,
    effective_capabilities,
    look,
    writable,
)

LINUX = "Linux version 6.8.0-51-generic (x86_64-linux-gnu-gcc-13) #52-Ubuntu SMP\n"
WSL = "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@f9c826d3017f) #1 SMP\n"
GVISOR = "Linux version 4.4.0 (gcc version 4.8.4) #1 SMP Sun Jan 10 15:06:54 PST 2016\n"
HEADERS = Headers(
    folders=(Path("include"),), origin=HeaderOrigin.WHEEL, label="nvidia/cu13", version="13.0"
)

HEALTHY = Machine(
    python=(3, 12, 4),
    bindings="13.0.3",
    core="1.2.2",
    nvrtc_cuda=(13, 0),
    headers=HEADERS,
    trial="a small kernel compiles",
    driver_cuda=(13, 0),
    driver_release="580.95.05",
    cards=("NVIDIA H200",),
    visible_devices=None,
    kernel=LINUX,
    boot="root=UUID=0 ro quiet",
    container=None,
    profiling_parameters="ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n",
    capabilities=0,
    ncu="/usr/local/cuda/bin/ncu",
    cache_folder=Path("cache"),
    run_folder=Path("runs"),
)
NO_DRIVER = Problem("libcuda cannot be loaded", "install the driver")


def found(name: str, **changes: object) -> Check:
    """The check of that name on the healthy machine with some facts changed."""
    machine = dataclasses.replace(HEALTHY, **changes)  # type: ignore[arg-type]
    (check,) = [one for one in diagnose(machine) if one.name == name]
    return check


def test_a_healthy_machine_has_nothing_to_do() -> None:
    checks = diagnose(HEALTHY)
    assert {check.state for check in checks} == {State.OK}
    assert [check.name for check in checks if check.remedy] == []
    assert can_run(checks)


def test_names_are_distinct() -> None:
    names = [check.name for check in diagnose(HEALTHY)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Python", {"python": (3, 10, 14)}),
        ("cuda-bindings", {"bindings": Problem("No module named 'cuda'")}),
        ("NVRTC", {"nvrtc_cuda": Problem("no NVRTC")}),
        ("trial compile", {"trial": Problem("NVRTC refused it")}),
        ("cuda-core", {"core": Problem("No module named 'cuda.core'")}),
        ("driver and NVRTC", {"driver_cuda": (12, 8)}),
    ],
)
def test_what_is_necessary_and_missing_stops_the_main_job(
    name: str, changes: dict[str, object]
) -> None:
    check = found(name, **changes)
    assert check.state is State.MISSING
    assert check.remedy
    assert not can_run(diagnose(dataclasses.replace(HEALTHY, **changes)))  # type: ignore[arg-type]


def test_a_machine_without_driver_can_still_model() -> None:
    machine = dataclasses.replace(
        HEALTHY,
        driver_cuda=NO_DRIVER,
        driver_release=None,
        cards=NO_DRIVER,
        core=Problem("No module named 'cuda.core'"),
        profiling_parameters=None,
    )
    checks = {check.name: check for check in diagnose(machine)}
    assert checks["NVIDIA driver"].state is State.MISSING
    assert checks["NVIDIA driver"].remedy == "install the driver"
    assert checks["GPU"].state is State.MISSING
    assert checks["driver and NVRTC"].state is State.UNKNOWN
    assert checks["MIG"].state is State.UNKNOWN
    assert checks["counters' permission"].state is State.UNKNOWN
    assert can_run(tuple(checks.values()))


def test_every_missing_or_warned_thing_has_one_remedy() -> None:
    broken = Problem("broken")
    machine = dataclasses.replace(
        HEALTHY,
        python=(3, 10, 0),
        bindings=broken,
        core=broken,
        nvrtc_cuda=broken,
        headers=None,
        trial=broken,
        driver_cuda=broken,
        cards=broken,
        profiling_parameters="RmProfilingAdminOnly: 1",
        ncu=None,
        kernel=WSL,
        cache_folder=broken,
        run_folder=broken,
    )
    bad = [one for one in diagnose(machine) if one.state in (State.MISSING, State.WARNING)]
    assert len(bad) == 12
    assert [check.name for check in bad if not check.remedy or "\n" in check.remedy] == []


class TestDriverAgainstWheels:
    NAME = "driver and NVRTC"

    @pytest.mark.parametrize("driver", [(13, 0), (13, 5), (14, 0)])
    def test_a_driver_of_the_same_or_a_newer_major_is_fine(self, driver: tuple[int, int]) -> None:
        assert found(self.NAME, driver_cuda=driver, nvrtc_cuda=(13, 5)).state is State.OK

    def test_an_older_major_names_the_extra_that_fits(self) -> None:
        check = found(self.NAME, driver_cuda=(12, 4))
        assert "rooflens[cuda12]" in (check.remedy or "")
        assert "12.4" in check.finding
        assert "13.0" in check.finding

    def test_bindings_of_another_major_are_told(self) -> None:
        assert found(self.NAME, bindings="12.9.2").state is State.WARNING


class TestHeaders:
    NAME = "CUDA headers"

    def test_none_is_a_warning_and_stops_nothing(self) -> None:
        assert found(self.NAME, headers=None).state is State.WARNING
        assert can_run(diagnose(dataclasses.replace(HEALTHY, headers=None)))

    def test_a_note_on_the_choice_is_passed_on(self) -> None:
        odd = dataclasses.replace(HEADERS, note="of CUDA 12.4 but NVRTC is 13.0")
        check = found(self.NAME, headers=odd)
        assert check.state is State.WARNING
        assert "of CUDA 12.4" in check.finding


class TestCards:
    def test_equal_cards_are_counted(self) -> None:
        assert found("GPU", cards=("NVIDIA A100",) * 8).finding == "8 x NVIDIA A100"

    def test_different_cards_are_all_named(self) -> None:
        check = found("GPU", cards=("NVIDIA A100", "NVIDIA T4"))
        assert check.finding == "NVIDIA A100, NVIDIA T4"

    def test_hidden_cards_are_laid_to_the_variable(self) -> None:
        check = found("GPU", cards=(), visible_devices="-1")
        assert check.state is State.MISSING
        assert "'-1'" in check.finding
        assert "CUDA_VISIBLE_DEVICES" in (check.remedy or "")

    def test_a_container_without_cards_is_told_how_to_get_them(self) -> None:
        assert "--gpus" in (found("GPU", cards=(), container="Docker").remedy or "")

    def test_a_driver_that_does_not_start_says_why(self) -> None:
        check = found("GPU", cards=Problem("cuInit failed: CUDA_ERROR_UNKNOWN (999)", "reboot"))
        assert (check.finding, check.remedy) == (
            "cuInit failed: CUDA_ERROR_UNKNOWN (999)",
            "reboot",
        )

    def test_a_mig_slice_is_told(self) -> None:
        check = found("MIG", cards=("NVIDIA H100 80GB HBM3 MIG 1g.10gb",))
        assert check.state is State.WARNING
        assert "1g.10gb" in check.finding


class TestCounters:
    NAME = "counters' permission"
    CLOSED = "RmMsg: \nRmProfilingAdminOnly: 1\n"

    @pytest.mark.parametrize(
        ("capabilities", "state"),
        [
            (1 << 21, State.OK),
            (0x1FFFFFFFFFF, State.OK),
            (0x1FFFFFFFFFF & ~(1 << 21), State.WARNING),
            (0, State.WARNING),
            (None, State.UNKNOWN),
        ],
    )
    def test_closed_counters_need_cap_sys_admin(
        self, capabilities: int | None, state: State
    ) -> None:
        check = found(self.NAME, profiling_parameters=self.CLOSED, capabilities=capabilities)
        assert check.state is state
        assert (check.remedy is None) == (state is State.OK)

    def test_in_a_container_the_remedy_is_the_container_s(self) -> None:
        check = found(self.NAME, profiling_parameters=self.CLOSED, container="Docker")
        assert "--cap-add=SYS_ADMIN" in (check.remedy or "")

    @pytest.mark.parametrize(
        "text", [None, "", "RmProfilingAdminOnly: maybe", "XRmProfilingAdminOnly: 0", "\0\n:::"]
    )
    def test_unreadable_parameters_are_unknown_never_open(self, text: str | None) -> None:
        assert found(self.NAME, profiling_parameters=text).state is State.UNKNOWN

    def test_wsl_points_to_windows(self) -> None:
        check = found(self.NAME, kernel=WSL, profiling_parameters=None)
        assert check.state is State.UNKNOWN
        assert "Windows" in (check.remedy or "")

    def test_gvisor_has_none_whatever_the_rights(self) -> None:
        check = found(self.NAME, kernel=GVISOR, capabilities=0x1FFFFFFFFFF)
        assert check.state is State.WARNING


class TestSurroundings:
    @pytest.mark.parametrize("kernel", [GVISOR, "Linux version 4.19.0-gvisor\n"])
    def test_gvisor_is_a_warning(self, kernel: str) -> None:
        assert found("sandbox", kernel=kernel).state is State.WARNING

    def test_containers_and_micro_vms_are_named(self) -> None:
        check = found("sandbox", container="Docker", boot="rdinit=/init -- --firecracker-init")
        assert check.finding == "Docker in Firecracker"
        assert found("sandbox").finding == "none seen"

    @pytest.mark.parametrize(
        ("kernel", "state"), [(WSL, State.WARNING), (LINUX, State.OK), (None, State.UNKNOWN)]
    )
    def test_wsl(self, kernel: str | None, state: State) -> None:
        assert found("WSL2", kernel=kernel).state is state

    def test_folders_that_cannot_be_written_say_what_to_set(self) -> None:
        broken = Problem("read-only")
        cache, runs = (
            found("compile cache", cache_folder=broken),
            found("run folder", run_folder=broken),
        )
        assert cache.state is runs.state is State.WARNING
        assert "ROOFLENS_CACHE_DIR" in (cache.remedy or "")
        assert "--out" in (runs.remedy or "")


class TestFacts:
    @pytest.mark.parametrize(
        ("text", "release"),
        [
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\n",
                "550.54.14",
            ),
            (
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05\n"
                "GCC version:  gcc version 13.3.0\n",
                "580.95.05",
            ),
            ("GCC version:  gcc version 13.3.0\n", None),
            ("", None),
            (None, None),
        ],
    )
    def test_driver_release(self, text: str | None, release: str | None) -> None:
        assert driver_release(text) == release

    @pytest.mark.parametrize(
        ("text", "mask"),
        [
            ("Name:\tpython\nCapPrm:\t0000000000000001\nCapEff:\t0000000000200000\n", 1 << 21),
            ("CapEff:\tnone\n", None),
            (None, None),
        ],
    )
    def test_effective_capabilities(self, text: str | None, mask: int | None) -> None:
        assert effective_capabilities(text) == mask

    def test_a_folder_to_be_is_tried_above_and_nothing_is_made(self, tmp_path: Path) -> None:
        folder = tmp_path / "größe mit leer" / "runs"
        assert writable(folder) == folder
        assert list(tmp_path.glob("größe*")) == []

    def test_a_file_in_the_way_is_a_problem(self, tmp_path: Path) -> None:
        (tmp_path / "runs").write_text("not a folder", encoding="utf-8")
        assert isinstance(writable(tmp_path / "runs" / "first"), Problem)

    def test_whatever_is_raised_becomes_a_problem(self) -> None:
        def missing() -> str:
            raise NotAvailableError("no NVRTC", "install it")

        def broken() -> str:
            raise OSError("libcuda.so.1: cannot open\nshared object file")

        assert attempt(missing) == Problem("no NVRTC", "install it")
        assert attempt(broken) == Problem("OSError: libcuda.so.1: cannot open shared object file")
        assert attempt(lambda: 3) == 3


class TestThisMachine:
    def test_looking_answers_every_question_in_one_line(self, tmp_path: Path) -> None:
        checks = examine(tmp_path / "runs")
        assert [check.name for check in checks] == [check.name for check in diagnose(HEALTHY)]
        assert [check for check in checks if "\n" in check.finding or not check.finding] == []

    def test_the_run_folder_is_the_one_asked_about(self, tmp_path: Path) -> None:
        assert look(tmp_path).run_folder == tmp_path


class TestCommand:
    @pytest.mark.parametrize(
        ("machine", "code"),
        [(HEALTHY, 0), (dataclasses.replace(HEALTHY, trial=Problem("no [bold] NVRTC")), 3)],
    )
    @pytest.mark.parametrize("output", list(TextFormat))
    def test_the_exit_code_says_whether_the_main_job_runs(
        self,
        machine: Machine,
        code: int,
        output: TextFormat,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr(doctor, "look", lambda run_folder: machine)
        assert print_report(output) == code
        out = capsys.readouterr().out
        assert ("no [bold] NVRTC" in out) == (code == 3)  # markup in a finding is text

    def test_json_is_alone_on_stdout_and_has_every_check(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(doctor, "look", lambda run_folder: HEALTHY)
        print_report(TextFormat.JSON)
        document = json.loads(capsys.readouterr().out)
        assert document["can_run"] is True
        assert len(document["checks"]) == len(diagnose(HEALTHY))
        assert set(document["checks"][0]) == {"name", "state", "finding", "remedy", "necessary"}
