"""The one place where processes are started."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FOREIGN = re.compile(r"(?:GIT|UV|PIP|LC)_.*|PYTHON.*|LANG|LANGUAGE|TZ|VIRTUAL_ENV|SSH_ASKPASS")
"""Environment variables that change what a tool does without anybody having asked for it."""

KEPT = frozenset({"GIT_SSL_CAINFO", "GIT_SSH_COMMAND", "GIT_SSH", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL"})
"""How to get to the network is the machine's to say."""

_USER_INFO = re.compile(r"(?<=://)[^/\s]+@")  # up to the last `@`: a password may hold one
_MOST_SHOWN = 4000


class ProcessError(ToolError):
    """A process ended with another exit code than 0; its streams are kept as bytes."""

    def __init__(self, command: Sequence[str], code: int, stdout: bytes, stderr: bytes) -> None:
        shown = without_secrets(shlex.join(command))
        said = _shown(stderr) or _shown(stdout) or "it said nothing"
        super().__init__(f"`{shown}` ended with exit code {code}\n{said}")
        self.code = code
        self.stdout = stdout
        self.stderr = stderr


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A process that has ended."""

    code: int
    stdout: bytes
    stderr: bytes


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    codes: Sequence[int] = (0,),
    timeout: float | None = None,
) -> Finished:
    """Run a process to its end in a clean environment, to which `environ` is added; `timeout` is in seconds.

    Raises:
        ToolError: the program is not there, took too long, or ended with a code that is not one of `codes`.
    """
    env = {**clean_environ(os.environ), **(environ or {})}
    try:
        done = subprocess.run(
            list(command), cwd=cwd, env=env, input=stdin, capture_output=True, timeout=timeout, check=False
        )
    except OSError as error:
        # It may be the folder that is not there.
        missing = isinstance(error, FileNotFoundError) and error.filename == command[0]
        place = "" if error.filename in (None, command[0]) else f" in `{error.filename}`"
        raise ToolError(
            f"`{command[0]}` cannot be run{place}: {error.strerror}", hint=f"install `{command[0]}`" if missing else ""
        ) from error
    except subprocess.TimeoutExpired as error:
        shown = without_secrets(shlex.join(command))
        raise ToolError(f"`{shown}` was stopped after {timeout:g} s", hint="check the network and try again") from error
    if done.returncode not in codes:
        raise ProcessError(command, done.returncode, done.stdout, done.stderr)
    return Finished(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def clean_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what would change a tool's output; messages are in English, times in UTC."""
    kept = {name: value for name, value in environ.items() if name in KEPT or not FOREIGN.fullmatch(name)}
    return {**kept, "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def without_secrets(text: str) -> str:
    """Return a text with the user and password of every URL in it masked."""
    return _USER_INFO.sub("****@", text)


def _shown(stream: bytes) -> str:
    text = without_secrets(stream.decode(errors="replace").strip())
    return text if len(text) <= _MOST_SHOWN else f"…{text[-_MOST_SHOWN:]}"
