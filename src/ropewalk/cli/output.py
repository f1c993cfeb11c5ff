"""What a command prints: text, or the whole result as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def print_result(value: object, options: argparse.Namespace, text: str) -> None:
    """Print a result to stdout: `text`, or with `--json` the value."""
    if options.json:
        from ropewalk.report.as_json import to_json  # noqa: PLC0415 - only where it is asked for

        text = to_json(value)
    sys.stdout.write(text)
