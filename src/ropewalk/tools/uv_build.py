"""Metadata that a source tells only when it is built: by its own backend, in an environment made by uv (PEP 517).

This runs code that nobody here has read, with the rights of whoever runs it. It happens when it is asked for.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from uv import find_uv_bin

from ropewalk.errors import ToolError
from ropewalk.tools.process import run, without_secrets

LARGEST_CACHE = 1 << 32
"""Bytes of uv's cache above which it is emptied before it is used again."""

_LONGEST_BUILD = 900.0
_LONGEST_INSTALL = 600.0
_SETUPTOOLS = "setuptools.build_meta:__legacy__"

_UNFIT = 1
"""The exit code of uv where there is nothing that fits; with any other, something outside failed."""

# Results go to files: backends write whatever they like to both streams.
_HOOK = """
import importlib, json, os, sys
backend, paths, hook, out = json.loads(sys.argv[1])
sys.path[:0] = [os.path.abspath(path) for path in paths]
module, _, attribute = backend.partition(":")
target = importlib.import_module(module)
for part in filter(None, attribute.split(".")):
    target = getattr(target, part)
def call(name, *arguments):
    return getattr(target, name)(*arguments)
if hook == "requires":
    result = call("get_requires_for_build_wheel") if hasattr(target, "get_requires_for_build_wheel") else []
elif hasattr(target, "prepare_metadata_for_build_wheel"):
    result = call("prepare_metadata_for_build_wheel", out)
else:
    result = call("build_wheel", out)
with open(os.path.join(out, hook + ".json"), "w", encoding="utf-8") as file:
    json.dump(result, file)
"""


class BuildError(ToolError):
    """A source does not build, today or on another day; any other `ToolError` may pass."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Builds:
    """How sources are built: `index` serves what they need, perhaps with credentials in it, empty for none.

    What is in `elsewhere` must not come from that index; a source that needs it is not built. `python` is what uv finds
    an interpreter by.
    """

    index: str
    cache: Path
    find_links: tuple[Path, ...] = ()
    exclude_newer: str = ""
    elsewhere: tuple[str, ...] = ()
    offline: bool = False
    python: str = sys.executable

    def prepared(self, source: Path) -> Path:
        """Return what has the metadata of an unpacked source: a `.dist-info` folder, or a wheel; beside `source`.

        Raises:
            BuildError: it does not build.
            ToolError: what it needs cannot be had now, or there is no such Python.
        """
        work = Path(tempfile.mkdtemp(prefix="build-", dir=source.parent))
        system = _build_system(source)
        environment = work / "environment"
        uv = self._uv("venv", "--quiet", "--python", self.python, str(environment))
        run(uv, environ=self._environ(), timeout=_LONGEST_INSTALL, cwd=work)
        self._install(environment, work, system.requires)
        asked = self._hook(environment, source, work, system, "requires")
        self._install(environment, work, asked)
        made = self._hook(environment, source, work, system, "metadata")
        if not isinstance(made, str) or Path(made).name != made or not (work / made).exists():
            raise BuildError("its build backend does not say what it made")
        return work / made

    def _install(self, environment: Path, work: Path, requires: object) -> None:
        if not isinstance(requires, list) or not all(isinstance(text, str) for text in requires):
            raise BuildError("its build requirements are no list")
        if not requires:
            return
        wanted, never = work / "requirements.txt", work / "never.txt"
        wanted.write_text("".join(f"{_requirement(text)}\n" for text in requires), encoding="utf-8")
        never.write_text("".join(f"{name}<0.dev0\n" for name in self.elsewhere), encoding="utf-8")
        command = self._uv("pip", "install", "--quiet", "--python", str(environment), "--constraints", str(never))
        command += ["--requirements", str(wanted)]
        done = run(command, environ=self._environ(), timeout=_LONGEST_INSTALL, cwd=work, codes=(0, _UNFIT))
        if done.code == _UNFIT:
            # Without a network, what is not kept looks like what is not there.
            kind = ToolError if self.offline else BuildError
            said = without_secrets(done.stderr.decode(errors="replace").strip())
            raise kind(f"what it needs to be built cannot be installed\n{said}")

    def _hook(self, environment: Path, source: Path, work: Path, system: _BuildSystem, hook: str) -> object:
        folder = "Scripts" if sys.platform == "win32" else "bin"
        python = environment / folder / "python"
        arguments = json.dumps([system.backend, system.paths, hook, str(work)])
        path = f"{environment / folder}:/usr/local/bin:/usr/bin:/bin"
        environ = {"PATH": path, "HOME": str(work), "VIRTUAL_ENV": str(environment)}
        try:
            run([str(python), "-I", "-c", _HOOK, arguments], environ=environ, timeout=_LONGEST_BUILD, cwd=source)
        except ToolError as error:
            raise BuildError(error.message, hint=error.hint) from error
        try:
            result: object = json.loads((work / f"{hook}.json").read_bytes())
        except (OSError, ValueError) as error:
            raise BuildError("its build backend does not say what it made") from error
        return result

    def _uv(self, *command: str) -> list[str]:
        options = ["--no-config", "--no-python-downloads", "--cache-dir", str(self.cache)]
        if command[0] == "pip":
            options += [f"--find-links={folder}" for folder in self.find_links]
            options += [f"--exclude-newer={self.exclude_newer}"] if self.exclude_newer else []
            options += [] if self.index else ["--no-index"]
        return [find_uv_bin(), *command, *options, *(["--offline"] if self.offline else [])]

    def _environ(self) -> dict[str, str]:
        # Not on the command line, which others on the machine can see.
        return {"UV_DEFAULT_INDEX": self.index, "UV_INDEX_URL": self.index} if self.index else {}


@dataclass(frozen=True, kw_only=True, slots=True)
class _BuildSystem:
    requires: object
    backend: str
    paths: list[str]


def _build_system(source: Path) -> _BuildSystem:
    """Return the table [build-system] of a source, or what stands for it where there is none (PEP 517, PEP 518)."""
    path = source / "pyproject.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("build-system", {}) if path.is_file() else {}
        backend, paths = table.get("build-backend", _SETUPTOOLS), table.get("backend-path", [])
    except (OSError, ValueError, AttributeError) as error:
        raise BuildError(f"its `pyproject.toml` cannot be read: {error}") from error
    if not isinstance(backend, str) or not isinstance(paths, list):
        raise BuildError("its `pyproject.toml` names no build backend")
    if any(
        not isinstance(part, str) or not (source / part).resolve().is_relative_to(source.resolve()) for part in paths
    ):
        raise BuildError("its build backend is outside of it")
    return _BuildSystem(requires=table.get("requires", ["setuptools>=40.8.0"]), backend=backend, paths=paths)


def _requirement(text: str) -> str:
    """Return a requirement as one, so that none is an option of uv's."""
    try:
        return str(Requirement(text))
    except InvalidRequirement as error:
        raise BuildError(f"its build requirement `{text[:200]}` is none") from error


def bound_cache(cache: Path, most: int = LARGEST_CACHE) -> None:
    """Empty uv's cache where it has grown above `most` bytes: a search for versions fills it without end."""
    size = sum(path.lstat().st_size for path in cache.rglob("*") if not path.is_dir()) if cache.is_dir() else 0
    if size > most:
        run([find_uv_bin(), "--no-config", "cache", "clean", "--quiet", "--cache-dir", str(cache)])
        shutil.rmtree(cache, ignore_errors=True)
