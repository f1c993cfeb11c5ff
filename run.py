#!/usr/bin/env python3
"""Set up a development environment and run something in it: `python3 run.py demo`, `python3 run.py test`.

Needs Python >= 3.11 and a package index, nothing else: the environment is a folder below `.venv-run/`, made on
first use from `requirements-dev.txt`, every file checked against its hash. Whoever has uv can do without this
program: `uv run pytest` works too.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.version_info < (3, 11):
    sys.exit(
        "error: ropewalk needs Python 3.11 or later, and this is {}.{}\n"
        "hint: name a later one, for example: python3.12 run.py test".format(*sys.version_info[:2])
    )

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements-dev.txt"
ENVIRONMENTS = ROOT / ".venv-run"
MARKER = "complete"
# Raise it when an environment made by an older version of this program no longer serves.
LAYOUT = 1
UNUSED_AFTER = 24 * 3600

COMMANDS = {
    "demo": "bundle the ten component wheels of the example",
    "test": "run the tests; what follows goes to pytest",
    "lint": "run ruff, mypy and import-linter",
    "lock": "bring requirements-dev.txt up to date; what follows goes to uv, for example --upgrade",
    "exec": "run any command in the environment",
}
LINTERS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("lint-imports", "--no-logo"),
)
LOCK_COMMAND = (
    *("uv", "pip", "compile", "pyproject.toml", "--group", "dev", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-emit-index-url", "--custom-compile-command", "python3 run.py lock"),
    *("--quiet", "--output-file", LOCK.name),
)

# They would lead the child to other modules or another interpreter than those of the environment.
FOREIGN = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
# They would install something else, or to another place. Which index to use stays the user's choice.
FOREIGN_TO_PIP = (
    *("PIP_BREAK_SYSTEM_PACKAGES", "PIP_CONSTRAINT", "PIP_DRY_RUN", "PIP_EDITABLE", "PIP_IGNORE_INSTALLED"),
    *("PIP_NO_BINARY", "PIP_NO_DEPS", "PIP_ONLY_BINARY", "PIP_PLATFORM", "PIP_PREFIX", "PIP_PYTHON"),
    *("PIP_PYTHON_VERSION", "PIP_REQUIREMENT", "PIP_REQUIRE_VIRTUALENV", "PIP_ROOT", "PIP_TARGET", "PIP_USER"),
)


class SetupError(Exception):
    """The environment cannot be made; the message may end with a line that starts with `hint:`."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="run.py",
        description="Set up ropewalk's environment if it is not there yet, and run something in it.",
        epilog="\n".join(f"  {name:<6} {what}" for name, what in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quiet", action="store_true", help="do not say that something is being set up")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="goes on to what the command runs")
    options = parser.parse_args(arguments)
    if options.command == "exec" and not options.rest:
        parser.error("exec: name a command, for example: run.py exec ropewalk --help")
    try:
        # What brings the lock up to date has to run before the lock fits the project again.
        environment = ready_environment(quiet=options.quiet, fits=options.command != "lock")
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    for command in processes_of(options.command, options.rest):
        code = run_inside(environment, command)
        if code != 0:
            return code
    return 0


def processes_of(command: str, rest: list[str]) -> list[list[str]]:
    """The processes behind a command, in order; the first that fails ends it."""
    if command == "lint":
        return [list(linter) for linter in LINTERS]
    leads = {
        "demo": ["python", "examples/kumo-engine/demo.py"],
        "test": ["python", "-m", "pytest"],
        "lock": list(LOCK_COMMAND),
        "exec": [],
    }
    return [[*leads[command], *rest]]


def run_inside(environment: Path, command: list[str]) -> int:
    """Run a command of the environment from the root of the checkout and return its exit code."""
    program = shutil.which(command[0], path=str(scripts_of(environment))) or command[0]
    if len(command) > 1:
        print(f"$ {shlex.join(command)}", file=sys.stderr, flush=True)
    try:
        return subprocess.run([program, *command[1:]], cwd=ROOT, env=child_environ(environment), check=False).returncode
    except FileNotFoundError:
        print(f"error: no `{command[0]}` in the environment, nor on PATH", file=sys.stderr)
        return 127


def scripts_of(environment: Path) -> Path:
    """The folder that holds the environment's programs."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def python_of(environment: Path) -> Path:
    """The environment's interpreter."""
    return scripts_of(environment) / ("python.exe" if os.name == "nt" else "python")


def clean_environ(*names: str) -> dict[str, str]:
    """The environment variables of this process without those named."""
    return {name: value for name, value in os.environ.items() if name not in names}


def child_environ(environment: Path) -> dict[str, str]:
    """What a command sees: as after activating the environment."""
    environ = clean_environ(*FOREIGN)
    environ["VIRTUAL_ENV"] = str(environment)
    environ["PATH"] = os.pathsep.join([str(scripts_of(environment)), environ.get("PATH", os.defpath)])
    return environ


def environment_name(lock: bytes, pyproject: bytes) -> str:
    """A name that changes with everything that the environment is made from."""
    import tomllib  # noqa: PLC0415 - not there before Python 3.11, where this file must still be read

    project = tomllib.loads(pyproject.decode())
    made_from = json.dumps(
        {
            "layout": LAYOUT,
            "lock": hashlib.sha256(lock).hexdigest(),
            "project": project["project"],
            "build-system": project["build-system"],
            "python": [sys.version, sys.base_prefix, sys.implementation.cache_tag],
            # Its programs name their interpreter by an absolute path, so a moved checkout needs a new one.
            "root": str(ROOT),
        },
        sort_keys=True,
    )
    return f"{sys.implementation.cache_tag}-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"


def ready_environment(*, quiet: bool, fits: bool = True) -> Path:
    """The environment for this checkout and this Python, made now if it is not there.

    With `fits`, what is in it must be all that the project asks for.

    The marker is written last: an environment without it is what a killed run left, and is made again.
    """
    environment = ENVIRONMENTS / environment_name(LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes())
    marker = environment / MARKER
    with only_one_at_a_time():
        if not marker.exists():
            make_environment(environment, quiet=quiet, fits=fits)
        if fits:
            marker.touch()
        remove_unused(environment)
    return environment


def make_environment(environment: Path, *, quiet: bool, fits: bool) -> None:
    """Create the environment, install the locked packages and this checkout in editable form."""
    began = time.monotonic()

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    say(f"setting up {environment.relative_to(ROOT)} with Python {sys.version.split()[0]} (once, about a minute)")
    pip = [*create(environment), "--disable-pip-version-check", "--no-input"]
    install = [*pip, "install", "--quiet", "--no-warn-script-location"]
    run_setup([*install, "--require-hashes", "--only-binary=:all:", "--requirement", str(LOCK)])
    # From here on with the locked pip, which the line above brought.
    own = [str(python_of(environment)), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    run_setup([*own, "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    if fits:
        run_setup([*own, "check"])
    say(f"set up in {time.monotonic() - began:.0f} s")


def create(environment: Path) -> list[str]:
    """Make an empty virtual environment and return the start of a command line that runs pip for it.

    A system may lack `ensurepip` or what it installs from (Debian keeps both in python3-venv); then a pip outside the
    environment, which has to know `--python` (22.3 or later), does the work. The environment is not externally
    managed, so a pip that refuses to install into the system (PEP 668) installs into it.
    """
    make = [sys.executable, "-I", "-m", "venv", "--clear"]
    try:
        run_setup([*make, str(environment)])
    except SetupError as error:
        pip = outer_pip()
        if pip is None:
            raise SetupError(f"{error}\n{how_to_get_venv()}") from None
    else:
        return [str(python_of(environment)), "-m", "pip"]
    run_setup([*make, "--without-pip", str(environment)])
    return [*pip, "--python", str(python_of(environment))]


def outer_pip() -> list[str] | None:
    """A command line of a pip outside the environment that can install into it."""
    candidates = [[sys.executable, "-m", "pip"]]
    candidates += [[found] for name in ("pip3", "pip") if (found := shutil.which(name))]
    for candidate in candidates:
        probe = [*candidate, "--python", sys.executable, "--version"]
        done = subprocess.run(probe, env=clean_environ(*FOREIGN, *FOREIGN_TO_PIP), capture_output=True, check=False)
        if done.returncode == 0:
            return candidate
    return None


def how_to_get_venv() -> str:
    """What to install on this system, as a hint."""
    if shutil.which("apt-get"):
        return "hint: install it with: apt-get install python3-venv"
    return "hint: install the package of your system that brings Python's `venv` and `ensurepip`, or pip"


def run_setup(command: list[str]) -> None:
    """Run one step of the set-up; its output is shown only where it fails."""
    environ = clean_environ(*FOREIGN, *FOREIGN_TO_PIP)
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        close_fds=False,
        check=False,
    )
    if done.returncode != 0:
        raise SetupError(f"`{shlex.join(command)}` ended with exit code {done.returncode}\n{done.stdout.rstrip()}")


@contextlib.contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Hold a lock that the system takes back when the process dies, however it dies."""
    ENVIRONMENTS.mkdir(exist_ok=True)
    with (ENVIRONMENTS / "lock").open("a") as held:
        with contextlib.suppress(ImportError):  # elsewhere than on POSIX two first runs at once are not kept apart
            import fcntl  # noqa: PLC0415

            fcntl.flock(held, fcntl.LOCK_EX)
            # A pip that outlives a killed run holds the lock on, so that nothing else writes beside it.
            os.set_inheritable(held.fileno(), True)  # noqa: FBT003
        yield


def remove_unused(current: Path) -> None:
    """Drop this Python's environments for older locks, unless they were used in the last day."""
    prefix = f"{sys.implementation.cache_tag}-"
    for old in ENVIRONMENTS.glob(f"{prefix}*"):
        marker = old / MARKER
        if old != current and (not marker.exists() or time.time() - marker.stat().st_mtime > UNUSED_AFTER):
            shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
