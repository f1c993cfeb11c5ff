"""The commands that compare: diff of two states, and verify of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

    from ropewalk.lock.state import State

FOUND_SOMETHING = 1


def run_diff(options: argparse.Namespace) -> int:
    """Show what changed between two states; the exit code is 0 in any case."""
    from ropewalk.lock.diff import diff_states, kept_history  # noqa: PLC0415
    from ropewalk.report.states import render_diff, render_diff_markdown  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    before, after = _state(options.before, options), _state(options.after, options)
    history = kept_history(options.cache or default_cache(), offline=options.offline)
    diffs = diff_states(before, after, history=history)
    print_result(diffs, options, render_diff_markdown(diffs) if options.markdown else render_diff(diffs))
    return 0


def _state(name: str, options: argparse.Namespace) -> State:
    """Return a state by what a person calls it: a lock folder, a revision of git, or a name in the store."""
    from ropewalk.lock.files import STATE, read_lock  # noqa: PLC0415
    from ropewalk.lock.store import open_store, read_revision, read_state  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    if (Path(name) / STATE).is_file():
        return read_lock(Path(name))
    committed = read_revision(Path.cwd(), name, options.lock)
    if committed is not None:
        return committed
    return read_state(open_store(options.store, options.cache or default_cache(), options.branch), name)


def run_verify(options: argparse.Namespace) -> int:
    """Verify a lock at one level."""
    from ropewalk.freeze.verify import verify  # noqa: PLC0415
    from ropewalk.report.terminal import render_findings  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    verified = verify(
        options.level, lock=options.lock, cache=options.cache or default_cache(), manifest=options.manifest
    )
    word = "holds" if verified.holds else "does not hold"
    print_result(verified, options, render_findings(verified.findings) + f"{verified.level}: {word}\n")
    sys.stdout.flush()
    return 0 if verified.holds else FOUND_SOMETHING
