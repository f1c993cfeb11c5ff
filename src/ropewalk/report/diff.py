"""The difference between two states as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.lock.diff import Course
from ropewalk.lock.diff_patches import PatchCourse
from ropewalk.report.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.lock.diff import Commit, SourceDiff, StateDiff, ValueDiff
    from ropewalk.lock.diff_patches import ChangeDiff, PatchDiff

SHORT = 12
SHOWN = 20
"""Commits of a source that are shown, either way."""

_MARKS = {
    PatchCourse.ADDED: "+",
    PatchCourse.REMOVED: "-",
    PatchCourse.MERGED: "-",
    PatchCourse.CHANGED: "!",
    PatchCourse.REBASED: "!",
    PatchCourse.SAME: "=",
}


def render_diff(diff: StateDiff) -> str:
    """Return the difference as plain text; sources that are the same are counted."""
    if diff.same:
        return "the states are the same\n"
    lines = [line for one in diff.changed for line in (f"{one.name}: {headline(one)}", *_indented(details(one)))]
    if rest := len(diff.sources) - len(diff.changed):
        lines.append(f"{counted(rest, 'other source')} the same")
    return visible("\n".join(lines) + "\n")


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {' '.join(line.splitlines()) if not line.isprintable() else line}" for line in lines)


def headline(diff: SourceDiff) -> str:
    """Return in a line what became of a source."""
    now = short(diff.now)
    match diff.course:
        case Course.ADDED:
            return f"added at {now}"
        case Course.REMOVED:
            return f"removed, was at {short(diff.was)}"
        case Course.MOVED:
            return f"the same commit {now} at another URL"
        case Course.CHANGED | Course.SAME:
            return f"the same commit {now}"
        case _:
            return _move(diff)


def _move(diff: SourceDiff) -> str:
    move = f"{short(diff.was)} -> {short(diff.now)}"
    new, lost = counted(diff.history.new, "commit"), counted(diff.history.lost, "commit")
    match diff.course:
        case Course.ADVANCED:
            return f"{move}, {new}"
        case Course.REWOUND:
            return f"went back: {move}, {lost} dropped"
        case Course.REWRITTEN if diff.history.gone:
            return f"history rewritten: {move}, and what was dropped cannot be had any more"
        case Course.REWRITTEN | Course.SWITCHED:
            what = "history rewritten" if diff.course is Course.REWRITTEN else "another line of history"
            common = f"in common up to {short(diff.history.common)}" if diff.history.common else "nothing in common"
            return f"{what}: {move}, {lost} dropped and {new} new, {common}"
        case _:
            return f"{move}, of unknown history"


def details(diff: SourceDiff, *, interdiffs: bool = True) -> Iterator[str]:
    """Yield everything else about a source, a line each; a line of an interdiff begins with two blanks and `|`."""
    yield from (f"{one.name}: {one.was or 'none'} -> {one.now or 'none'}" for one in diff.values)
    yield from _commits(diff.history.came, diff.history.new, "+")
    yield from _commits(diff.history.went, diff.history.lost, "-")
    for patch in diff.patches:
        if patch.course is not PatchCourse.SAME:
            yield from _patch(patch, interdiffs=interdiffs)
    yield from (_by_path("submodule", one) for one in diff.submodules)
    yield from (_by_path("LFS file", one) for one in diff.lfs)


def _commits(commits: tuple[Commit, ...], count: int | None, mark: str) -> Iterator[str]:
    yield from (f"{mark} {short(one.id)} {one.subject}" for one in commits[:SHOWN])
    if count is not None and count > min(len(commits), SHOWN):
        yield f"{mark} and {count - min(len(commits), SHOWN)} more"


def _by_path(what: str, one: ValueDiff) -> str:
    return f"{what} {one.name}: {one.was or 'none'} -> {one.now or 'none'}"


def _patch(patch: PatchDiff, *, interdiffs: bool) -> Iterator[str]:
    word = "is upstream now" if patch.course is PatchCourse.MERGED else patch.course.value
    yield f"patch {patch.origin}: {word}, {short(patch.was)} -> {short(patch.now)}"
    if patch.course is PatchCourse.MERGED:
        return
    for change in patch.changes:
        yield f"  {_MARKS[change.course]} {change.subject}"
        if interdiffs:
            yield from _interdiff(change)


def _interdiff(change: ChangeDiff) -> Iterator[str]:
    yield from (f"    | {line}" for line in change.lines)
    if change.left_out:
        yield f"    | and {counted(change.left_out, 'line')} more"


def short(identifier: str) -> str:
    """Return as much of an id as a person needs."""
    return identifier[:SHORT] or "none"


def counted(number: int | None, what: str) -> str:
    """Return a number of things, in words that fit it."""
    if number is None:
        return f"an unknown number of {what}s"
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
