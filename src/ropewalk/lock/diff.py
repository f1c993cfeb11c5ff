"""What has changed between two states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError
from ropewalk.tools.objects import Kept, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ropewalk.lock.state import Patch, Source, State

MOST_COMMITS = 200
"""Commits of a source that are listed; their number is told in any case."""


class Course(StrEnum):
    """What became of a source, or of a patch."""

    ADDED = "added"
    REMOVED = "removed"
    ADVANCED = "advanced"
    REWOUND = "rewound"
    REWRITTEN = "rewritten"
    MOVED = "moved"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit as a list shows it."""

    id: str
    subject: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchDiff:
    """What became of a patch; `steps` says it of each of its commits, by `patch-id`."""

    origin: str
    course: Course
    was: str = ""
    now: str = ""
    steps: tuple[tuple[Course, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceDiff:
    """What became of a source.

    `commits` are those that came, the newest first; `dropped` those that went, where history was rewritten or the
    source went back. `new` and `lost` are their numbers; None where the history is not known here.
    """

    name: str
    course: Course
    was: str = ""
    now: str = ""
    url: str = ""
    commits: tuple[Commit, ...] = ()
    dropped: tuple[Commit, ...] = ()
    new: int | None = None
    lost: int | None = None
    patches: tuple[PatchDiff, ...] = ()
    submodules: tuple[tuple[str, str, str], ...] = ()
    lfs_changed: int = 0


def diff_states(
    before: State, after: State, *, history: Callable[[Source, Sequence[str]], Kept | None]
) -> tuple[SourceDiff, ...]:
    """Return what became of each source, by name, those that are the same included.

    `history` returns a repository with the history of commits of a source, or None where there is none.
    """
    old = {source.name: source for source in before.sources}
    new = {source.name: source for source in after.sources}
    return tuple(_diff(old.get(name), new.get(name), history) for name in sorted({*old, *new}))


def kept_history(cache: Path, *, offline: bool) -> Callable[[Source, Sequence[str]], Kept | None]:
    """Return the history of what is kept in `cache`, fetched where it lacks and `offline` does not forbid it."""

    def history(source: Source, commits: Sequence[str]) -> Kept | None:
        kept = keep(cache, source.url, object_format="sha256" if len(source.commit) == 64 else "sha1")
        if not kept.missing(commits) and offline:
            return kept
        for place in () if offline else source.places:
            try:
                kept.fetch_history(place, commits)
            except ToolError:
                continue
            return kept
        return None

    return history


def _diff(
    old: Source | None, new: Source | None, history: Callable[[Source, Sequence[str]], Kept | None]
) -> SourceDiff:
    if old is None or new is None:
        one = old or new
        assert one is not None  # noqa: S101 - the name is that of one of them
        course = Course.ADDED if old is None else Course.REMOVED
        return SourceDiff(
            name=one.name, course=course, url=one.url, was=old.commit if old else "", now=new.commit if new else ""
        )
    patches = _patches(old.patches, new.patches)
    submodules = _submodules(old, new)
    lfs = len(set(old.lfs) ^ set(new.lfs))
    same = SourceDiff(
        name=new.name,
        url=new.url,
        was=old.commit,
        now=new.commit,
        course=Course.SAME,
        patches=patches,
        submodules=submodules,
        lfs_changed=lfs,
    )
    if old.commit == new.commit:
        changed = any(one.course is not Course.SAME for one in patches) or submodules or lfs
        course = Course.MOVED if old.url != new.url else Course.CHANGED if changed else Course.SAME
        return replace(same, course=course, new=0, lost=0)
    kept = history(new, [old.commit, new.commit])
    if kept is None:
        return replace(same, course=Course.CHANGED)
    came, new_count = _commits(kept, old.commit, new.commit)
    went, lost_count = _commits(kept, new.commit, old.commit)
    course = Course.ADVANCED if not lost_count else Course.REWRITTEN if new_count else Course.REWOUND
    return replace(same, course=course, commits=came, dropped=went, new=new_count, lost=lost_count)


def _commits(kept: Kept, known: str, tip: str) -> tuple[tuple[Commit, ...], int]:
    """Return the commits that `tip` has and `known` has not, the newest first, and how many there are."""
    count = int(kept.git.text("rev-list", "--count", tip, f"^{known}"))
    options = ("-z", "--no-show-signature", f"--max-count={MOST_COMMITS}", "--format=%H %s")
    raw = kept.git.run("log", *options, tip, f"^{known}").stdout.decode(errors="replace")
    rows = [row.partition(" ") for row in raw.split("\0") if row]
    return tuple(Commit(id=row[0], subject=row[2]) for row in rows), count


def _patches(old: Sequence[Patch], new: Sequence[Patch]) -> tuple[PatchDiff, ...]:
    before = {patch.origin: patch for patch in old}
    after = {patch.origin: patch for patch in new}
    names = list(dict.fromkeys([*after, *before]))
    return tuple(_patch(name, before.get(name), after.get(name)) for name in names)


def _patch(origin: str, old: Patch | None, new: Patch | None) -> PatchDiff:
    was, now = (one.tip if one else "" for one in (old, new))
    if old is None or new is None:
        return PatchDiff(origin=origin, course=Course.ADDED if old is None else Course.REMOVED, was=was, now=now)
    before = {step.patch_id: step.sha256 for step in old.steps}
    after = {step.patch_id: step.sha256 for step in new.steps}
    steps = [
        (Course.SAME if before.get(step) == digest else Course.MOVED if step in before else Course.ADDED, step)
        for step, digest in after.items()
    ]
    steps += [(Course.REMOVED, step) for step in before if step not in after]
    if (old.tip, old.standing, old.steps) == (new.tip, new.standing, new.steps):
        course = Course.SAME
    elif old.standing is not new.standing or set(before) != set(after):
        course = Course.CHANGED
    else:
        course = Course.MOVED  # the same changes, on another base
    return PatchDiff(origin=origin, course=course, was=was, now=now, steps=tuple(steps))


def _submodules(old: Source, new: Source) -> tuple[tuple[str, str, str], ...]:
    """Return path, commit before and commit after of each submodule that changed."""
    before: Mapping[str, str] = {one.path: one.commit for one in old.submodules}
    after: Mapping[str, str] = {one.path: one.commit for one in new.submodules}
    return tuple(
        (path, before.get(path, ""), after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    )
