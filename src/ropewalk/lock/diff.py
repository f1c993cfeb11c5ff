"""What has changed between two states."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from ropewalk.lock.diff_patches import PatchCourse, PatchDiff, diff_patches
from ropewalk.lock.files import sources_text
from ropewalk.lock.state import state_id
from ropewalk.tools.git import canonical_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ropewalk.lock.state import Source, State

AT_ONCE = 16
"""Histories that are looked at, and fetched where needed, at once."""


class Course(StrEnum):
    """What became of a source.

    History is *rewritten* where the new commit of the same ref does not have the old one behind it; *switched* where
    the ref is another as well; *unknown* where it cannot be had. *moved* is the same commit at another URL.
    """

    ADDED = "added"
    REMOVED = "removed"
    ADVANCED = "advanced"
    REWOUND = "rewound"
    REWRITTEN = "rewritten"
    SWITCHED = "switched"
    UNKNOWN = "unknown"
    MOVED = "moved"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit as a list shows it."""

    id: str
    subject: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Between:
    """The history between two commits.

    `came` are the commits that the new one has and the old one has not, `went` those that the old one had, the newest
    first; there are not more of them than a list should have. `new` and `lost` are their true numbers, None where they
    cannot be known. `common` is the last commit that both have, empty where there is none or it cannot be known. `gone`
    says that nobody serves the old commit any more, and that it is not behind the new one.
    """

    came: tuple[Commit, ...] = ()
    went: tuple[Commit, ...] = ()
    new: int | None = None
    lost: int | None = None
    common: str = ""
    gone: bool = False

    @property
    def course(self) -> Course:
        """What the two commits are to each other."""
        if self.new is None:
            return Course.REWRITTEN if self.gone else Course.UNKNOWN
        if self.lost == 0:
            return Course.ADVANCED
        return Course.REWOUND if self.new == 0 else Course.REWRITTEN


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueDiff:
    """Something that has another value; empty is not there."""

    name: str
    was: str = ""
    now: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceDiff:
    """What became of a source: its commit, its patches, its submodules and LFS files by path, and other values."""

    name: str
    course: Course
    url: str
    was: str = ""
    now: str = ""
    history: Between = field(default_factory=Between)
    values: tuple[ValueDiff, ...] = ()
    patches: tuple[PatchDiff, ...] = ()
    submodules: tuple[ValueDiff, ...] = ()
    lfs: tuple[ValueDiff, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StateDiff:
    """What became of each source, by name, those that are the same included; `was` and `now` are the states' ids."""

    was: str
    now: str
    sources: tuple[SourceDiff, ...]

    @property
    def same(self) -> bool:
        """Whether nothing has changed."""
        return self.was == self.now

    @property
    def changed(self) -> tuple[SourceDiff, ...]:
        """The sources that are not the same."""
        return tuple(one for one in self.sources if one.course is not Course.SAME)


def diff(
    before: str, after: str, *, resolve: Callable[[str], State], history: Callable[[Source, Source], Between]
) -> StateDiff:
    """Compare two states by their names, which `resolve` knows; for `history` see `diff_states`.

    Raises:
        UsageError: a name leads to no state.
        IntegrityError: a state is not what it says it is.
    """
    return diff_states(resolve(before), resolve(after), history=history)


def diff_states(before: State, after: State, *, history: Callable[[Source, Source], Between]) -> StateDiff:
    """Compare two states.

    `history` says what lies between the commits of a source before and after (`diff_history.kept_history`); it is asked
    once for each source that has another commit.
    """
    old = {source.name: source for source in before.sources}
    new = {source.name: source for source in after.sources}
    pairs = [(old[name], new[name]) for name in sorted(old.keys() & new.keys())]
    with ThreadPoolExecutor(max_workers=AT_ONCE) as executor:
        known = executor.map(lambda pair: _between(pair[0], pair[1], history), pairs)
        histories = {pair[0].name: between for pair, between in zip(pairs, known, strict=True)}
    patches = {**before.patches, **after.patches}
    sources = [_diff(old.get(name), new.get(name), patches, histories.get(name)) for name in sorted({*old, *new})]
    was, now = (state_id(sources_text(state.sources)) for state in (before, after))
    return StateDiff(was=was, now=now, sources=tuple(filter(None, sources)))


def _between(old: Source, new: Source, history: Callable[[Source, Source], Between]) -> Between:
    return Between(new=0, lost=0, common=new.commit) if old.commit == new.commit else history(old, new)


def _diff(
    old: Source | None, new: Source | None, patches: Mapping[str, bytes], history: Between | None
) -> SourceDiff | None:
    if old is not None and new is not None and history is not None:
        return _both(old, new, patches, history)
    if new is not None:
        added = diff_patches((), new.patches, patches)
        return SourceDiff(name=new.name, course=Course.ADDED, url=new.url, now=new.commit, patches=added)
    if old is not None:
        return SourceDiff(name=old.name, course=Course.REMOVED, url=old.url, was=old.commit)
    return None


def _both(old: Source, new: Source, patches: Mapping[str, bytes], history: Between) -> SourceDiff:
    patch_diffs = diff_patches(old.patches, new.patches, patches)
    submodules = _by_path(
        {one.path: f"{one.url} {one.commit}" for one in old.submodules},
        {one.path: f"{one.url} {one.commit}" for one in new.submodules},
    )
    lfs = _by_path({one.path: one.oid for one in old.lfs}, {one.path: one.oid for one in new.lfs})
    values = _values(old, new, TOLD)
    told = old.commit != new.commit or submodules or lfs or values
    if not told and all(one.course is PatchCourse.SAME for one in patch_diffs):
        values = _values(old, new, tuple(one.name for one in fields(new)))
    return SourceDiff(
        name=new.name,
        course=_course(old, new, history),
        url=new.url,
        was=old.commit,
        now=new.commit,
        history=history,
        values=values,
        patches=patch_diffs,
        submodules=submodules,
        lfs=lfs,
    )


TOLD = ("url", "mirrors", "fetched_from", "ref", "describe", "lfs_wanted", "degraded")
"""Values of a source that are told where they have changed; others follow from what else is told."""


def _course(old: Source, new: Source, history: Between) -> Course:
    if old.commit != new.commit:
        diverged = history.course is Course.REWRITTEN and old.ref != new.ref
        return Course.SWITCHED if diverged else history.course
    if old == new:
        return Course.SAME
    return Course.MOVED if canonical_url(old.url) != canonical_url(new.url) else Course.CHANGED


def _values(old: Source, new: Source, names: Iterable[str]) -> tuple[ValueDiff, ...]:
    pairs = ((name, getattr(old, name), getattr(new, name)) for name in names)
    return tuple(
        ValueDiff(name=name.replace("_", "-"), was=_shown(was), now=_shown(now))
        for name, was, now in pairs
        if was != now
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(getattr(one, "origin", one)) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _by_path(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[ValueDiff, ...]:
    return tuple(
        ValueDiff(name=path, was=before.get(path, ""), now=after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    )
