"""The command that compares two states."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

DIFFERENT = 1


def run_diff(options: argparse.Namespace) -> int:
    """Show what changed between two states; with --exit-code it is 1 where something has."""
    from ropewalk.lock.diff import diff  # noqa: PLC0415
    from ropewalk.lock.diff_history import kept_history  # noqa: PLC0415
    from ropewalk.lock.named import named_state  # noqa: PLC0415
    from ropewalk.report.diff import render_diff  # noqa: PLC0415
    from ropewalk.report.markdown import render_diff_markdown  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    cache = options.cache or default_cache()
    resolve = partial(named_state, lock=options.lock, store=options.store, branch=options.branch, cache=cache)
    history = kept_history(cache, offline=options.offline)
    found = diff(options.before, options.after, resolve=resolve, history=history)
    text = render_diff_markdown(found) if options.markdown else render_diff(found)
    result = {"same": found.same, "was": found.was, "now": found.now, "sources": found.sources}
    print_result(result, options, text)
    return DIFFERENT if options.exit_code and not found.same else 0
