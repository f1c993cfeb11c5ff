"""What became of patches: a range-diff of what is in the locks, without any repository (after git-range-diff(1))."""

from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from ropewalk.errors import IntegrityError
from ropewalk.lock.series import parse_change
from ropewalk.lock.state import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ropewalk.lock.state import Patch, Step

ALIKE = 0.5
"""What two changes have in common at least to be taken for one that has changed."""
MOST_LINES = 200
"""Lines of a difference between two changes that are kept."""
MOST_COMPARED = 4000
"""Lines of a change up to which it is compared line by line."""
MOST_PAIRS = 400
"""Pairs of changes that are compared for what they have in common; beyond that, their subjects have to do."""

_FRAME = re.compile(r"@@|--- |\+\+\+ |(?:new|deleted) file mode |(?:old|new) mode ")
"""Lines that nearly every diff has; a removed line `-- ` looks like one, which does little harm."""


class PatchCourse(StrEnum):
    """What became of a patch or of a change in it: *rebased* is the same change in other surroundings.

    The author or the message may be others as well.
    """

    ADDED = "added"
    REMOVED = "removed"
    MERGED = "merged"
    CHANGED = "changed"
    REBASED = "rebased"
    SAME = "same"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeDiff:
    """What became of one change of a patch: `was` and `now` are the SHA-256 of its files.

    `lines` is the difference between the two, `left_out` the number of its lines that are not there.
    """

    course: PatchCourse
    subject: str
    was: str = ""
    now: str = ""
    lines: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchDiff:
    """What became of a patch; `was` and `now` are its tips, *merged* says that upstream has it now."""

    origin: str
    course: PatchCourse
    was: str = ""
    now: str = ""
    changes: tuple[ChangeDiff, ...] = ()


@dataclass(frozen=True, slots=True)
class _Text:
    """A change as text to compare: no line numbers, no ids of blobs, no dates.

    `core` is what counts for likeness: paths and contents, and not what every diff has.
    """

    step: Step
    subject: str
    lines: tuple[str, ...]
    core: tuple[str, ...]


def diff_patches(old: Sequence[Patch], new: Sequence[Patch], files: Mapping[str, bytes]) -> tuple[PatchDiff, ...]:
    """Return what became of each patch, in the new order, those that went last. `files` has the patch files."""
    before, after = _by_origin(old), _by_origin(new)
    names = dict.fromkeys([*after, *before])
    return tuple(_patch(name[0], before.get(name), after.get(name), files) for name in names)


def _by_origin(patches: Iterable[Patch]) -> dict[tuple[str, int], Patch]:
    named: dict[tuple[str, int], Patch] = {}
    for patch in patches:
        number = sum(1 for origin, _ in named if origin == patch.origin)
        named[patch.origin, number] = patch
    return named


def _patch(origin: str, old: Patch | None, new: Patch | None, files: Mapping[str, bytes]) -> PatchDiff:
    changes = _changes(old.steps if old else (), new.steps if new else (), files)
    return PatchDiff(
        origin=origin,
        course=_course(old, new, changes),
        was=old.tip if old else "",
        now=new.tip if new else "",
        changes=changes,
    )


def _course(old: Patch | None, new: Patch | None, changes: Sequence[ChangeDiff]) -> PatchCourse:
    if old is None or new is None:
        return PatchCourse.ADDED if old is None else PatchCourse.REMOVED
    if old.standing is not new.standing and new.standing is Standing.MERGED:
        return PatchCourse.MERGED
    courses = {one.course for one in changes}
    if old.standing is not new.standing or courses - {PatchCourse.SAME, PatchCourse.REBASED}:
        return PatchCourse.CHANGED
    is_moved = old.tip != new.tip or old.steps != new.steps
    return PatchCourse.REBASED if is_moved else PatchCourse.SAME


# The changes of a patch


def _changes(old: Sequence[Step], new: Sequence[Step], files: Mapping[str, bytes]) -> tuple[ChangeDiff, ...]:
    before = [_text(step, files) for step in old]
    after = [_text(step, files) for step in new]
    partners = _partners(before, after)
    rows = [_change(partners.get(number), one) for number, one in enumerate(after)]
    paired = {id(one) for one in partners.values()}
    rows += [
        ChangeDiff(course=PatchCourse.REMOVED, subject=one.subject, was=one.step.sha256)
        for one in before
        if id(one) not in paired
    ]
    return tuple(rows)


def _change(old: _Text | None, new: _Text) -> ChangeDiff:
    if old is None:
        return ChangeDiff(course=PatchCourse.ADDED, subject=new.subject, now=new.step.sha256)
    was, now = old.step.sha256, new.step.sha256
    if was == now:
        return ChangeDiff(course=PatchCourse.SAME, subject=new.subject, was=was, now=now)
    is_alike = new.step.patch_id and old.step.patch_id == new.step.patch_id
    course = PatchCourse.REBASED if is_alike else PatchCourse.CHANGED
    lines, left_out = _interdiff(old.lines, new.lines)
    return ChangeDiff(course=course, subject=new.subject, was=was, now=now, lines=lines, left_out=left_out)


def _partners(before: Sequence[_Text], after: Sequence[_Text]) -> dict[int, _Text]:
    """Return the old change of each new one, by its number: the same bytes, the same change, or the most alike."""
    free = list(before)
    partners: dict[int, _Text] = {}
    for key in ("sha256", "patch_id"):
        for number, one in enumerate(after):
            value = getattr(one.step, key)
            found = next((other for other in free if value and getattr(other.step, key) == value), None)
            if number not in partners and found is not None:
                partners[number] = found
                free.remove(found)
    left = [(number, one) for number, one in enumerate(after) if number not in partners]
    by_likeness = len(left) * len(free) <= MOST_PAIRS
    scores = [
        (score, -number, -place)
        for number, one in left
        for place, other in enumerate(free)
        if (score := _likeness(other, one, by_likeness=by_likeness)) >= ALIKE
    ]
    taken: set[int] = set()
    for _, number, place in sorted(scores, reverse=True):
        if -number not in partners and -place not in taken:
            partners[-number] = free[-place]
            taken.add(-place)
    return partners


def _likeness(old: _Text, new: _Text, *, by_likeness: bool) -> float:
    same_subject = 1.0 if old.subject == new.subject else 0.0
    if not by_likeness or max(len(old.core), len(new.core)) > MOST_COMPARED:
        return same_subject
    matcher = difflib.SequenceMatcher(None, old.core, new.core)
    if not same_subject and matcher.quick_ratio() < ALIKE:
        return 0.0
    return same_subject + matcher.ratio()


def _interdiff(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], int]:
    if max(len(old), len(new)) > MOST_COMPARED:
        return (), len(old) + len(new)
    rows = difflib.unified_diff(old, new, n=2, lineterm="")
    listed = ["@@" if row.startswith("@@") else row for row in islice(rows, 2, None)]
    return tuple(listed[:MOST_LINES]), max(0, len(listed) - MOST_LINES)


def _text(step: Step, files: Mapping[str, bytes]) -> _Text:
    try:
        change = parse_change(files.get(step.sha256, b""))
    except IntegrityError:
        return _Text(step, step.sha256, (), ())
    author = change.author.rpartition(b">")[0] + b">"
    message = change.message.decode(errors="replace").rstrip("\n").split("\n")
    head = [f"author {author.decode(errors='replace')}", *message]
    diff = tuple(_diff_lines(change.diff.removesuffix(b"\n")))
    return _Text(step, message[0], (*head, "", *diff), tuple(line for line in diff if not _FRAME.match(line)))


def _diff_lines(diff: bytes) -> Iterator[str]:
    """Yield the lines of a diff without what moves with its surroundings; binary content is one line."""
    binary = hashlib.sha256()
    in_binary = False
    for raw in diff.split(b"\n"):
        is_header = raw.startswith(b"diff --git ")
        if in_binary and is_header:
            yield f"binary content {binary.hexdigest()}"
            in_binary = False
        if in_binary:
            binary.update(raw + b"\n")
        elif raw == b"GIT binary patch":
            in_binary, binary = True, hashlib.sha256()
        elif not raw.startswith(b"index "):
            yield re.sub(r"^@@ [^@]* @@", "@@", raw.decode(errors="replace"))
    if in_binary:
        yield f"binary content {binary.hexdigest()}"
