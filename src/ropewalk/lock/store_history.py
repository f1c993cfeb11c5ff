"""Two stores brought together, and states dropped: the only two ways in which a commit of a state is written again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.lock.store_commits import LATEST, check_line, look, put_on
from ropewalk.lock.store_notes import joined, read_notes, write_notes
from ropewalk.lock.store_place import NOTES
from ropewalk.lock.store_refs import Move, fetch, move, until_won

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ropewalk.lock.store_commits import Entry, View
    from ropewalk.lock.store_place import Store
    from ropewalk.tools.git import Git


@dataclass(frozen=True, kw_only=True, slots=True)
class Pulled:
    """What came from another store: states, and labels that are new or moved.

    `kept` are the labels that are on another state there and stayed where they are here.
    """

    states: tuple[Entry, ...]
    labels: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A branch as it is to be: its last commit, and where each commit of before is in it."""

    tip: str
    places: Mapping[str, str]


def pull_states(origin: Store, *, store: Store) -> Pulled:
    """Bring the states, labels and notes of `origin` into `store`; nothing that is in `store` only is lost.

    Where both have states that the other has not, those of `store` go on top. A label moves here only from a state that
    both have to one that came later.

    Raises:
        UsageError: one of the branches has other work on it.
        ToolError: one of them cannot be reached, or others were faster for too long.
    """

    def attempt() -> Pulled:
        theirs, ours = look(origin), look(store)
        check_line(theirs, origin)
        check_line(ours, store)
        refs = theirs.refs
        fetch(store.git, origin.place, (refs.tip, refs.notes, *refs.labels.values()))
        line = _merged(store.git, ours, theirs)
        before = {label: line.places.get(commit, commit) for label, commit in _homes(ours).items()}
        labels, kept = _merged_labels(ours, theirs, line)
        notes = _merged_notes(store.git, ours, theirs)
        moves = [
            Move(ref=store.branch, old=ours.refs.tip, new=line.tip),
            Move(ref=NOTES, old=ours.refs.notes, new=notes),
        ]
        moves += [
            Move(ref=f"{store.labels}{label}", old=ours.refs.labels.get(label, ""), new=commit)
            for label, commit in labels.items()
        ]
        move(store, [one for one in moves if one.old != one.new])
        here = {entry.key for entry in ours.newest_first}
        news = tuple(entry for entry in theirs.newest_first if entry.key not in here)
        return Pulled(
            states=tuple(replace(one, labels=tuple(name for name in one.labels if name != LATEST)) for one in news),
            labels=tuple(sorted(label for label in refs.labels if labels.get(label) != before.get(label))),
            kept=kept,
        )

    return until_won(store, attempt)


def _merged(git: Git, ours: View, theirs: View) -> Line:
    """Return one line with the states of both: theirs, then what only we have."""
    there = {entry.key: entry.commit for entry in theirs.line}
    if not theirs.refs.tip or theirs.refs.tip in ours.commits:
        here = {entry.key: entry.commit for entry in ours.line}
        known = {entry.commit: here.get(entry.key, entry.commit) for entry in theirs.line}
        return Line(tip=ours.refs.tip, places={**known, **{entry.commit: entry.commit for entry in ours.line}})
    places = {entry.commit: entry.commit for entry in theirs.line}
    parent = theirs.refs.tip
    for entry in ours.line:
        if entry.commit not in theirs.commits and entry.key not in there:
            parent = put_on(git, entry, parent)
            places[entry.commit] = parent
        else:
            places[entry.commit] = there.get(entry.key, entry.commit)
    return Line(tip=parent, places=places)


def _merged_labels(ours: View, theirs: View, line: Line) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return where each label is to be, and those that we keep though they are elsewhere there."""
    here, there = _homes(ours), _homes(theirs)
    key = {entry.commit: entry.key for entry in (*ours.line, *ours.aside, *theirs.line, *theirs.aside)}
    order = {entry.key: at for at, entry in enumerate(theirs.line)}
    labels = {label: line.places.get(commit, commit) for label, commit in here.items()}
    kept = []
    for label, commit in there.items():
        if label in here:
            before, after = key[here[label]], key[commit]
            moves = before in order and order[before] < order.get(after, -1)
            kept += [] if moves or before == after else [label]
        else:
            moves = not _in_the_way(label, labels)
            kept += [] if moves else [label]
        if moves:
            labels[label] = line.places.get(commit, commit)
    return labels, tuple(sorted(kept))


def _in_the_way(label: str, labels: Iterable[str]) -> bool:
    return any(other.startswith(f"{label}/") or label.startswith(f"{other}/") for other in labels)


def _homes(view: View) -> dict[str, str]:
    """Return the commit of each label's state, on the branch where it is there."""
    return {
        label: entry.commit
        for entry in (*view.line, *view.aside)
        for label in entry.labels
        if label in view.refs.labels
    }


def _merged_notes(git: Git, ours: View, theirs: View) -> str:
    mine, other = read_notes(git, ours.refs.notes), read_notes(git, theirs.refs.notes)
    both = joined(mine, other)
    if both == mine:
        return ours.refs.notes
    return theirs.refs.notes if both == other else write_notes(git, both, ours.refs.notes, theirs.refs.notes)


def prune_states(
    store: Store, *, keep_last: int = 1, before: str | None = None, dry_run: bool = True
) -> tuple[Entry, ...]:
    """Drop states that have no label; return those that are dropped, the newest first.

    Those that stay are the last `keep_last`, and those frozen at `before` (RFC 3339, UTC) or later. From the first
    that is dropped on, the branch has new commits; labels move along, notes need not.

    Raises:
        UsageError: nothing would be left.
        ToolError: the store cannot be reached or does not allow it, or others were faster for too long.
    """
    if keep_last < 1:
        raise UsageError("at least one state has to be kept", hint="write `--keep-last 1` or more")

    def attempt() -> tuple[Entry, ...]:
        view = look(store)
        dropped = tuple(
            entry
            for at, entry in enumerate(view.newest_first)
            if at >= keep_last and not entry.labels and (before is None or entry.time < before)
        )
        if dropped and not dry_run:
            move(store, _without(store, view, {entry.commit for entry in dropped}))
        return dropped

    return until_won(store, attempt)


def _without(store: Store, view: View, dropped: set[str]) -> list[Move]:
    """Return the moves that leave a branch without some of its commits."""
    parent = ""
    places = {}
    for entry in (*view.aside, *view.line):
        if entry.commit not in dropped:
            parent = places[entry.commit] = put_on(store.git, entry, parent)
    moves = [Move(ref=store.branch, old=view.refs.tip, new=parent)]
    moves += [
        Move(ref=f"{store.labels}{label}", old=view.refs.labels[label], new=places[commit])
        for label, commit in _homes(view).items()
    ]
    return [one for one in moves if one.old != one.new]
