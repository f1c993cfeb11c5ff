"""The command that verifies a frozen state."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

    from ropewalk.freezing.verify_values import Verdict, Verified

FOUND_SOMETHING = 1
NO_ANSWER = 3


def run_verify(options: argparse.Namespace) -> int:
    """Verify a lock at one level; the verdicts go to stdout, the findings to stderr."""
    from ropewalk.freezing.verify import verify  # noqa: PLC0415
    from ropewalk.report.terminal import render_findings, visible  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    verified = verify(
        options.level, lock=options.lock, cache=options.cache or default_cache(), manifest=options.manifest
    )
    sys.stderr.write(render_findings(verified.findings))
    lines = [_line(verdict) for verdict in verified.verdicts]
    text = visible("".join(f"{line}\n" for line in [*lines, f"{verified.level}: {_word(verified)}"]))
    result = {
        "level": verified.level,
        "holds": verified.holds,
        "verdicts": verified.verdicts,
        "findings": verified.findings,
    }
    print_result(result, options, text)
    return 0 if verified.holds else NO_ANSWER if verified.undecided else FOUND_SOMETHING


def _line(verdict: Verdict) -> str:
    name = f"{verdict.source}: {verdict.part}" if verdict.part else verdict.source
    moved = f" ({verdict.commit} -> {verdict.now})" if verdict.now and verdict.now != verdict.commit else ""
    return " ".join(f"{name}: {verdict.word.value}{moved}".splitlines())


def _word(verified: Verified) -> str:
    if verified.holds:
        return "holds"
    return "undecided, not everybody answered" if verified.undecided else "does not hold"
