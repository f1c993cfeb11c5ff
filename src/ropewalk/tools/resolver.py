"""uv as a resolver: requirements and an index in, pins or the reason why there are none out."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from uv import find_uv_bin

from ropewalk.tools.process import ProcessError, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from packaging.utils import NormalizedName

UNSOLVED = re.compile(r"No solution found when resolving dependencies")
PATIENCE = 600.0
"""Seconds after which a resolution counts as failed."""
_ROOT = "roots.in"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is to be resolved, from one index.

    `python` is the lowest minor version, `environments` are markers that share no target, `excludes` are names that are
    not resolved whoever asks for them, and `preferences` pins that stay as long as they can. With `early` pre-releases
    count as others do; else only where a requirement names one or there is nothing else.
    """

    index: str
    requires: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    python: str
    early: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A pin; `asked_by` are the names that require it, empty text for the question itself."""

    name: NormalizedName
    version: str
    marker: str
    asked_by: tuple[str, ...]


class UnsolvedError(Exception):
    """There is no solution; `report` is what uv says of it."""

    def __init__(self, report: str) -> None:
        super().__init__(report)
        self.report = report


def resolve(question: Question, *, folder: Path, cache: Path) -> tuple[Resolved, ...]:
    """Return the pins that uv finds, for all environments in one universal resolution; `folder` is an empty one.

    Raises:
        UnsolvedError: there is no solution.
        ToolError: uv failed.
    """
    _write(folder, question)
    command = [find_uv_bin(), "pip", "compile", _ROOT, "--universal", "--output-file", "pins.txt"]
    command += ["--default-index", f"{question.index}/simple/", "--cache-dir", str(cache), "--no-header"]
    command += ["--python-version", question.python, "--constraints", "constraints.txt", "--excludes", "excludes.txt"]
    command += ["--prerelease", "allow" if question.early else "if-necessary-or-explicit", "--only-binary", ":all:"]
    # Named, as uv would try every interpreter that there is for one of that version.
    command += ["--python", sys.executable, "--annotation-style", "line", "--no-progress"]
    environ = {"UV_NO_PYTHON_DOWNLOADS": "1", "NO_COLOR": "1", "UV_NO_WRAP": "1"}
    try:
        run([*command, "--quiet"], cwd=folder, environ=environ, timeout=PATIENCE)
    except ProcessError as error:
        said = error.stderr.decode(errors="replace")
        if error.code == 1 and UNSOLVED.search(said):
            raise UnsolvedError(said) from error
        raise
    return tuple(_pins((folder / "pins.txt").read_text(encoding="utf-8")))


def _write(folder: Path, question: Question) -> None:
    markers = ", ".join(f'"{marker}"' for marker in question.environments)
    # Only a project may say for which environments it is resolved.
    project = f'[project]\nname = "question"\nversion = "0"\n[tool.uv]\nenvironments = [{markers}]\n'
    files = {
        "pyproject.toml": [project],
        _ROOT: question.requires,
        "constraints.txt": question.constraints,
        "excludes.txt": question.excludes,
        "pins.txt": question.preferences,
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _pins(text: str) -> Iterator[Resolved]:
    for line in text.splitlines():
        pin, _, about = line.partition("#")
        if not pin.strip():
            continue
        parsed = Requirement(pin)
        yield Resolved(
            name=canonicalize_name(parsed.name),
            version=next(iter(parsed.specifier)).version,
            marker=str(parsed.marker or ""),
            asked_by=tuple(sorted(_askers(about))),
        )


def _askers(about: str) -> Iterable[str]:
    names = about.strip().removeprefix("via ").split(", ")
    return ["" if name.startswith("-r ") else name for name in names if name and not name.startswith("-c ")]
