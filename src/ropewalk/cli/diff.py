"""The command that compares two states."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

    from ropewalk.lock.state import State

DIFFERENT = 1


def run_diff(options: argparse.Namespace) -> int:
    """Show what changed between two states; with --exit-code it is 1 where something has."""
    from ropewalk.lock.diff import diff  # noqa: PLC0415
    from ropewalk.lock.diff_history import kept_history  # noqa: PLC0415
    from ropewalk.report.diff import render_diff  # noqa: PLC0415
    from ropewalk.report.markdown import render_diff_markdown  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    history = kept_history(options.cache or default_cache(), offline=options.offline)
    found = diff(options.before, options.after, resolve=lambda name: _state(name, options), history=history)
    text = render_diff_markdown(found) if options.markdown else render_diff(found)
    result = {"same": found.same, "was": found.was, "now": found.now, "sources": found.sources}
    print_result(result, options, text)
    return DIFFERENT if options.exit_code and not found.same else 0


def _state(name: str, options: argparse.Namespace) -> State:
    """Return a state by what a person calls it: a lock folder, a revision of git, or a name in the store."""
    from ropewalk.errors import UsageError  # noqa: PLC0415
    from ropewalk.lock.files import STATE, read_lock  # noqa: PLC0415
    from ropewalk.lock.store import open_store, read_revision, read_state  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    folder = Path(name)
    if (folder / STATE).is_file():
        return read_lock(folder)
    committed = read_revision(Path.cwd(), name, _below_root(options.lock))
    if committed is not None:
        return committed
    if folder.is_dir():
        return read_lock(folder)  # which says what is missing
    try:
        return read_state(open_store(options.store, options.cache or default_cache(), options.branch), name)
    except UsageError as error:
        raise UsageError(
            f"`{name}` is no lock folder, no revision that has `{options.lock}`, and no state: {error.message}",
            hint=error.hint,
        ) from error


def _below_root(lock: Path) -> Path:
    """Return a lock folder as a revision names it: seen from the root of the repository around this folder."""
    from ropewalk.tools.git import Git  # noqa: PLC0415

    found = Git().run("rev-parse", "--show-toplevel", codes=(0, 128), cwd=Path.cwd())
    root = os.fsdecode(found.stdout.removesuffix(b"\n"))
    return Path(os.path.relpath(Path(lock).resolve(), Path(root).resolve())) if root else lock
