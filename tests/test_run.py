"""`run.py`: how an environment is known, and what a command runs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = b'[build-system]\nrequires = []\n[project]\nname = "ropewalk"\n[tool.ruff]\nline-length = 120\n'


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run", ROOT / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_another_lock_or_another_project_is_another_environment(run: ModuleType) -> None:
    names = {
        run.environment_name(b"a==1", PYPROJECT),
        run.environment_name(b"a==2", PYPROJECT),
        run.environment_name(b"a==1", PYPROJECT.replace(b'"ropewalk"', b'"other"')),
    }
    assert len(names) == 3


def test_a_linter_setting_is_no_other_environment(run: ModuleType) -> None:
    changed = PYPROJECT.replace(b"120", b"100")
    assert run.environment_name(b"a==1", changed) == run.environment_name(b"a==1", PYPROJECT)


def test_what_a_killed_run_left_is_made_again(run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def make(environment: Path, *, quiet: bool, fits: bool) -> None:
        assert quiet
        assert fits
        environment.mkdir(exist_ok=True)
        made.append(environment)
        if len(made) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "ENVIRONMENTS", tmp_path / "environments")
    monkeypatch.setattr(run, "make_environment", make)
    with pytest.raises(KeyboardInterrupt):
        run.ready_environment(quiet=True)
    again = run.ready_environment(quiet=True)
    assert run.ready_environment(quiet=True) == again
    assert made == [again, again]


def test_an_environment_that_does_not_fit_is_only_for_the_lock(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []

    def make(environment: Path, *, quiet: bool, fits: bool) -> None:
        assert quiet
        environment.mkdir(exist_ok=True)
        made.append(fits)

    monkeypatch.setattr(run, "ENVIRONMENTS", tmp_path / "environments")
    monkeypatch.setattr(run, "make_environment", make)
    run.ready_environment(quiet=True, fits=False)
    run.ready_environment(quiet=True)
    assert made == [False, True]


def test_options_after_the_command_go_on_unread(run: ModuleType) -> None:
    assert run.processes_of("test", ["-m", "online", "--", "-x"]) == [
        ["python", "-m", "pytest", "-m", "online", "--", "-x"]
    ]


def test_the_child_sees_the_environment_and_nothing_foreign(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PATH", "/usr/bin")
    environ = run.child_environ(tmp_path)
    assert "PYTHONPATH" not in environ
    assert environ["VIRTUAL_ENV"] == str(tmp_path)
    assert environ["PATH"].split(run.os.pathsep) == [str(run.scripts_of(tmp_path)), "/usr/bin"]


def test_an_unknown_command_is_refused() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "run.py"), "dmeo"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'dmeo'" in done.stderr
