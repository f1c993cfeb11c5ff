"""What a command prints: text, or the whole result as JSON."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing `typing` for it would take longer than `ropewalk --version` otherwise does

if TYPE_CHECKING:
    import argparse


class OutputError(Exception):
    """stdout did not take what was written; `reason` says why. It is no fault of the command that wrote."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def print_result(value: object, options: argparse.Namespace, text: str) -> None:
    """Print a result to stdout: `text`, or with `--json` the value."""
    if options.json:
        from ropewalk.report.as_json import to_json  # noqa: PLC0415 - only where it is asked for

        text = to_json(value)
    write_out(text)


def write_out(text: str) -> None:
    """Write a text to stdout, now.

    Raises:
        OutputError: it is closed, full, or its reader has gone away.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from error
