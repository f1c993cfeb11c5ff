"""What has to hold of the repository as a whole: its locked environment, its layers, its example's facts."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ropewalk.checks.run import check

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-dev.txt"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ASKED_FOR = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"]["dev"]]


def locked_versions() -> dict[str, str]:
    """The packages of the lock; a line that starts one reads `name==version ; marker \\`."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line.removesuffix("\\")) for line in lines if line[:1].isalnum()]
    return {canonicalize_name(r.name): next(iter(r.specifier)).version for r in requirements}


def test_the_lock_holds_no_address() -> None:
    assert not re.findall(r"\S+://\S+|--\S*index\S*|--find-links", LOCK.read_text(encoding="utf-8"))


def test_every_locked_package_has_a_hash() -> None:
    entries = re.split(r"\n(?=[a-z0-9])", LOCK.read_text(encoding="utf-8"))[1:]
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("text", ASKED_FOR)
def test_the_lock_fulfils_what_the_project_asks_for(text: str) -> None:
    requirement = Requirement(text)
    assert requirement.specifier.contains(locked_versions()[canonicalize_name(requirement.name)], prereleases=True)


@pytest.mark.parametrize("text", ASKED_FOR)
def test_every_dependency_has_a_floor(text: str) -> None:
    assert any(specifier.operator == ">=" for specifier in Requirement(text).specifier)


def test_imports_point_down_the_house() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", [(3, 8), (3, 10)])
def test_an_older_python_can_read_run_py_far_enough_to_be_refused(version: tuple[int, int]) -> None:
    ast.parse((ROOT / "run.py").read_text(encoding="utf-8"), feature_version=version)


def test_the_example_manifest_names_the_components_that_are_made() -> None:
    example = ROOT / "examples" / "kumo-engine"
    manifest = tomllib.loads((example / "ropewalk.toml").read_text(encoding="utf-8"))
    facts = tomllib.loads((example / "components.toml").read_text(encoding="utf-8"))
    assert sorted(manifest["bundle"]["components"]) == sorted(facts["components"])


def test_our_own_wheel_passes_our_own_checks(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    report = check(wheel)
    assert (report.passed, report.findings) == (True, ())
