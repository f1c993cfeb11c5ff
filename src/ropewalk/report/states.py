"""The difference between two states as plain text and as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ropewalk.lock.diff import Course
from ropewalk.report.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.lock.diff import Commit, PatchDiff, SourceDiff

SHORT = 12
SHOWN = 20
"""Commits of a source that are shown."""

# What Markdown or HTML would make something of.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>@~&:-])")


def render_diff(diffs: Iterable[SourceDiff]) -> str:
    """Return the difference as plain text; sources that are the same are left out."""
    lines = [line for diff in diffs if diff.course is not Course.SAME for line in _text(diff)]
    return visible("\n".join(lines) + "\n") if lines else "the states are the same\n"


def _text(diff: SourceDiff) -> Iterator[str]:
    yield f"{diff.name}: {_headline(diff)}"
    yield from (f"  + {one.id[:SHORT]} {one.subject}" for one in diff.commits[:SHOWN])
    yield from _left_out(diff.new, diff.commits, "  + ")
    yield from (f"  - {one.id[:SHORT]} {one.subject}" for one in diff.dropped[:SHOWN])
    yield from _left_out(diff.lost, diff.dropped, "  - ")
    for patch in diff.patches:
        if patch.course is not Course.SAME:
            yield f"  patch {patch.origin}: {_patch_line(patch)}"
    for path, was, now in diff.submodules:
        yield f"  submodule {path}: {was[:SHORT] or 'none'} -> {now[:SHORT] or 'none'}"
    if diff.lfs_changed:
        yield f"  {diff.lfs_changed} LFS files differ"


def _headline(diff: SourceDiff) -> str:
    match diff.course:
        case Course.ADDED:
            return f"added at {diff.now[:SHORT]}"
        case Course.REMOVED:
            return f"removed, was at {diff.was[:SHORT]}"
        case Course.REWRITTEN:
            return (
                f"history rewritten: {diff.was[:SHORT]} -> {diff.now[:SHORT]}, "
                f"{diff.lost} commits dropped and {diff.new} new"
            )
        case Course.REWOUND:
            return f"went back: {diff.was[:SHORT]} -> {diff.now[:SHORT]}, {diff.lost} commits dropped"
        case Course.ADVANCED:
            return f"{diff.was[:SHORT]} -> {diff.now[:SHORT]}, {diff.new} commits"
        case Course.MOVED:
            return f"now from {diff.url}, the same commit"
        case _:
            if diff.was == diff.now:
                return "the same commit"
            return f"{diff.was[:SHORT]} -> {diff.now[:SHORT]}, of unknown history"


def _left_out(count: int | None, listed: tuple[Commit, ...], mark: str) -> Iterator[str]:
    if count is not None and count > min(len(listed), SHOWN):
        yield f"{mark}and {count - min(len(listed), SHOWN)} more"


def _patch_line(patch: PatchDiff) -> str:
    counts = {course: sum(1 for one, _ in patch.steps if one is course) for course in Course}
    steps = ", ".join(
        f"{counts[course]} {word}"
        for course, word in (
            (Course.SAME, "the same"),
            (Course.MOVED, "on another base"),
            (Course.ADDED, "new"),
            (Course.REMOVED, "dropped"),
        )
        if counts[course]
    )
    where = f"{patch.was[:SHORT] or 'none'} -> {patch.now[:SHORT] or 'none'}"
    return f"{patch.course.value}, {where}" + (f" ({steps})" if steps else "")


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))


def code(text: str) -> str:
    """Return a text as inline code, in which a forge sees no mention, link or number of an issue."""
    plain = visible(" ".join(text.split()))
    fence = "`" * (max(map(len, re.findall("`+", plain)), default=0) + 1)
    pad = " " if plain[:1] == "`" or plain[-1:] == "`" else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def render_diff_markdown(diffs: Iterable[SourceDiff]) -> str:
    """Return the difference in Markdown, fit for the body of a pull request."""
    shown = [diff for diff in diffs if diff.course is not Course.SAME]
    if not shown:
        return "The states are the same.\n"
    lines = ["| source | what happened |", "| --- | --- |"]
    lines += [f"| {escaped(diff.name)} | {escaped(_headline(diff))} |" for diff in shown]
    for diff in shown:
        details = [f"- {code(line)}" for line in _text(diff)][1:]
        if details:
            lines += ["", f"### {escaped(diff.name)}", "", *details]
    return "\n".join(lines) + "\n"
