"""The command reference, written from the parser: `python -m ropewalk.cli.reference > docs/commands.md`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ropewalk import errors
from ropewalk.checks import CHECKS
from ropewalk.cli.parser import make_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_CODES = {
    0: "done",
    1: "there are findings, or a state is degraded",
    errors.UsageError.exit_code: "the command line, the manifest, the lock or an input is at fault",
    errors.ToolError.exit_code: "an outside tool, the operating system or the network failed",
    errors.IntegrityError.exit_code: "bytes are not the ones that were recorded",
    errors.RopewalkError.exit_code: "a fault of ropewalk itself",
    130: "interrupted",
    141: "whoever read the output went away",
    143: "asked to end (SIGTERM)",
}


def command_reference() -> str:
    """Return the reference in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "Written by `python3 run.py exec python -m ropewalk.cli.reference > docs/commands.md`."
    for name, command in _commands(make_parser(), ""):
        yield ""
        yield f"## `ropewalk {name}`"
        yield ""
        yield command.description or ""
        yield ""
        yield "| argument | meaning |"
        yield "| --- | --- |"
        for action in command._actions:  # noqa: SLF001 - argparse offers no other way to its arguments
            if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):  # noqa: SLF001
                yield f"| {_written(action)} | {action.help} |"
    yield ""
    yield "## Checks"
    yield ""
    yield "| check | what it looks at |"
    yield "| --- | --- |"
    for check, what in CHECKS.items():
        yield f"| `{check}` | {what} |"
    yield ""
    yield "## Exit codes"
    yield ""
    yield "| code | meaning |"
    yield "| --- | --- |"
    for code, meaning in EXIT_CODES.items():
        yield f"| {code} | {meaning} |"


def _commands(parser: argparse.ArgumentParser, prefix: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the commands below a parser; one with commands of its own stands for those."""
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, command in action.choices.items():
                below = list(_commands(command, f"{prefix}{name} "))
                yield from below or [(f"{prefix}{name}", command)]


def _written(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else (action.dest.upper() if action.nargs != 0 else "")
    if not action.option_strings:
        many = {"*": f"[{value}…]", "+": f"{value}…", "?": f"[{value}]"}
        return f"`{many.get(str(action.nargs), value)}`"
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings) + (
        " (needed)" if action.required else ""
    )


if __name__ == "__main__":
    sys.stdout.write(command_reference())
