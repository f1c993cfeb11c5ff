"""The commits between two frozen commits of a source, without their trees."""

from __future__ import annotations

from collections import defaultdict
from threading import Lock
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError
from ropewalk.lock.diff import Between, Commit
from ropewalk.tools.git import canonical_url
from ropewalk.tools.objects import fetch_from, keep
from ropewalk.tools.served import format_of, is_served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ropewalk.lock.state import Source
    from ropewalk.tools.objects import Kept

MOST_COMMITS = 200
"""Commits of a source that are listed, either way; their number is told in any case."""


def kept_history(cache: Path, *, offline: bool) -> Callable[[Source, Source], Between]:
    """Return what tells the history between two commits from what is kept in `cache`.

    What is not there is fetched in one request, unless `offline`. A history that cannot be had is unknown.
    """
    # Two sources of one repository, looked at at once, would fetch the same twice.
    locks: defaultdict[str, Lock] = defaultdict(Lock)

    def history(before: Source, after: Source) -> Between:
        with locks[canonical_url(after.url)]:
            return known_history(before, after)

    def known_history(before: Source, after: Source) -> Between:
        if len(before.commit) != len(after.commit):
            return Between()  # SHA-1 before and SHA-256 after: nothing can be in both
        kept = keep(cache, after.url, object_format=format_of(after.commit))
        known = _read(kept, before.commit, after.commit)
        if known.lost is not None or offline:
            return known
        _fetch(kept, before, after)
        known = _read(kept, before.commit, after.commit)
        return known if known.lost is not None else Between(gone=_is_gone(kept, before, after))

    return history


def _fetch(kept: Kept, before: Source, after: Source) -> None:
    """Fetch both histories in one request; where that is refused, each from where it may be."""
    attempts = [(after.places, [before.commit, after.commit])]
    attempts += [(after.places, [after.commit]), (before.places, [before.commit])]
    for number, (places, commits) in enumerate(attempts):
        try:
            fetch_from(kept.fetch_history, places, commits)
        except ToolError:
            continue
        if number == 0:
            return


def _is_gone(kept: Kept, before: Source, after: Source) -> bool:
    """Whether nobody serves the old commit, while all that is behind the new one is here, and it is not there."""
    try:
        _count(kept, after.commit)
        return not any(is_served(place, before.commit) for place in dict.fromkeys((*after.places, *before.places)))
    except ToolError:
        return False


def _read(kept: Kept, old: str, new: str) -> Between:
    """Return the history between two commits; unknown where a part of it is not here."""
    if kept.missing([old, new]):
        return Between()
    try:
        new_count, lost = _count(kept, new, old), _count(kept, old, new)
        came, went = _commits(kept, new, old), _commits(kept, old, new)
    except ToolError:  # a parent is not here
        return Between()
    bases = kept.git.run("merge-base", old, new, codes=(0, 1)).stdout.decode().split()
    return Between(came=came, went=went, new=new_count, lost=lost, common=bases[0] if bases else "")


def _count(kept: Kept, tip: str, *known: str) -> int:
    return int(kept.git.text("rev-list", "--count", tip, *(f"^{one}" for one in known), "--"))


def _commits(kept: Kept, tip: str, *known: str) -> tuple[Commit, ...]:
    """Return the commits that `tip` has and `known` have not, the newest first."""
    options = ("-z", "--no-show-signature", f"--max-count={MOST_COMMITS}", "--format=%H %s")
    raw = kept.git.run("log", *options, tip, *(f"^{one}" for one in known), "--").stdout.decode(errors="replace")
    rows = [row.partition(" ") for row in raw.split("\0") if row]
    return tuple(Commit(id=row[0], subject=row[2]) for row in rows)
