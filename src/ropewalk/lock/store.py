"""The store of states: an orphan branch with one commit for each state that is news, labels, and notes.

A state is kept whatever became of it. Commits are written by plumbing, in no work tree, and a push that lost a race is
put on top of what won it, so that every state ends up in one line of history.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Finding
from ropewalk.lock.files import STATE, parse_lock, read_lock, sources_text
from ropewalk.lock.state import State, state_id
from ropewalk.lock.store_commits import (
    LATEST,
    Entry,
    View,
    check_line,
    entry_of,
    look,
    read_files,
    write_commit,
    write_tree,
)
from ropewalk.lock.store_history import Pulled, prune_states, pull_states
from ropewalk.lock.store_notes import joined, note_line, noted_object, read_notes, write_notes
from ropewalk.lock.store_place import BRANCH, NOTES, Patience, Store, open_store
from ropewalk.lock.store_refs import LABEL, Move, move, until_won
from ropewalk.tools.git import Git

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BRANCH",
    "Entry",
    "Held",
    "Patience",
    "Pulled",
    "Pushed",
    "Store",
    "find_state",
    "label_state",
    "list_states",
    "note_state",
    "open_store",
    "prune_states",
    "pull_states",
    "push",
    "push_state",
    "read_revision",
    "read_state",
    "remove_label",
]

_LONGEST_LABEL = 200
_PREFIX = re.compile(r"[0-9a-f]{8,64}")
_SHORT = re.compile(r"[0-9a-f]{1,7}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushed:
    """A state in a store; `new` is False where it was the newest already."""

    id: str
    commit: str
    new: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A state as a store holds it, with the notes on it."""

    entry: Entry
    state: State
    notes: tuple[str, ...]


def push(lock: Path, *, store: Store) -> Pushed:
    """Put the state of a lock folder into a store.

    Raises:
        UsageError, IntegrityError: as `read_lock` and `push_state`.
        ToolError: as `push_state`.
    """
    return push_state(read_lock(lock), store)


def push_state(state: State, store: Store) -> Pushed:
    """Put a state into a store, on top of what is there; one that the branch ends with already is no news.

    Raises:
        UsageError: the branch has other work on it, or the state's time is none.
        ToolError: the store cannot be reached, or others were faster for too long.
    """
    entry = entry_of(state)

    def attempt() -> Pushed:
        view = look(store)
        tip = view.refs.tip
        check_line(view, store)
        tree = write_tree(store.git, state, tip)
        if tip and _changed(store.git, tip, tree) <= {STATE}:
            return Pushed(id=entry.id, commit=tip, new=False)
        commit = write_commit(store.git, tree, entry, tip)
        move(store, [Move(ref=store.branch, old=tip, new=commit, appends=True)])
        return Pushed(id=entry.id, commit=commit, new=True)

    return until_won(store, attempt)


def _changed(git: Git, old: str, new: str) -> set[str]:
    """Return the paths that differ between two trees; what a commit says of itself may be wrong."""
    return set(
        git.lines("diff-tree", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", old, new)
    )


def list_states(store: Store) -> tuple[Entry, ...]:
    """Return the states of a store, the newest first, as their commits say they are.

    Raises:
        ToolError: the store cannot be reached.
    """
    return look(store).newest_first


def read_state(store: Store, name: str) -> State:
    """Return a state by its id (eight digits of it are enough), its label, or its commit.

    Raises:
        UsageError: there is none, or several.
        IntegrityError: its files are not what it says they are.
        ToolError: the store cannot be reached.
    """
    return find_state(store, name).state


def find_state(store: Store, name: str) -> Held:
    """Return a state with all that is said of it; errors are those of `read_state`."""
    view = look(store)
    entry = find_entry(view.newest_first, name, store)
    called = f"{store.name}:{entry.commit[:12]}"
    state = parse_lock(read_files(store.git, entry.commit, called), called)
    held = state_id(sources_text(state.sources))
    if held != entry.id:
        raise IntegrityError(
            f"`{called}` says that it holds the state {entry.id} and holds {held}",
            hint="somebody wrote to the store by other means: take another state, or freeze again",
        )
    notes = read_notes(store.git, view.refs.notes).get(noted_object(store.git, entry.commit), frozenset())
    return Held(entry=entry, state=state, notes=tuple(sorted(notes)))


def find_entry(entries: Sequence[Entry], name: str, store: Store) -> Entry:
    """Return the entry that an id, label, commit, or, for a store on this machine, revision of git names.

    Raises:
        UsageError: there is none, or several.
    """
    found = [entry for entry in entries if name in (entry.id, entry.commit, *entry.labels)]
    if not found and _PREFIX.fullmatch(name):
        found = [entry for entry in entries if entry.id.startswith(name) or entry.commit.startswith(name)]
    if not found and not _SHORT.fullmatch(name):
        commit = _revision(store, name)
        found = [entry for entry in entries if entry.commit == commit]
    ids = sorted({entry.id for entry in found})
    if len(ids) > 1:
        findings = [Finding(rule="store/ambiguous", message=f"it may be {one}", subject=name) for one in ids]
        raise UsageError(
            f"`{name}` names several states of `{store.name}`", hint="write more digits", findings=findings
        )
    if not found:
        short = bool(_SHORT.fullmatch(name))
        hint = "write at least eight digits of an id" if short else "`ropewalk states list` shows them"
        raise UsageError(f"`{name}` names no state of `{store.name}`", hint=hint)
    return found[0]


def _revision(store: Store, name: str) -> str:
    if store.url or not name or not name.isprintable():
        return ""
    options = ("--quiet", "--verify", "--end-of-options")
    done = store.git.run("rev-parse", *options, f"{name}^{{commit}}", codes=(0, 1, 128))
    return done.stdout.decode().strip() if done.code == 0 else ""


def read_revision(folder: Path, name: str, lock: Path) -> State | None:
    """Return the state that a revision of the repository around `folder` has in its lock folder, None without one.

    `name` is a revision as gitrevisions(7) has it, with or without `:path` of a lock folder.
    """
    revision, _, path = name.partition(":")
    if not revision or revision.startswith("-"):
        return None
    found = Git().run("rev-parse", "--absolute-git-dir", codes=(0, 128), cwd=folder)
    if found.code:
        return None
    git = Git(git_dir=Path(found.stdout.decode().rstrip("\n")))
    where = f"{revision}:{path or lock.as_posix()}"
    tree = git.run("rev-parse", "--quiet", "--verify", where, codes=(0, 1, 128))
    if tree.code or git.run("cat-file", "-e", f"{where}/{STATE}", codes=(0, 1, 128)).code:
        return None
    return parse_lock(read_files(git, tree.stdout.decode().strip(), where), where)


# Labels and notes


def check_label(label: str) -> str:
    """Return a label once it can be one.

    Raises:
        UsageError: it is not the end of a ref's name, or would be taken for an id.
    """
    well_formed = LABEL.fullmatch(label) and len(label) <= _LONGEST_LABEL
    if not well_formed or Git().run("check-ref-format", f"refs/ropewalk/labels/{label}", codes=(0, 1)).code:
        raise UsageError(
            f"`{label}` cannot be a label",
            hint="write letters, digits, `.`, `_`, `+`, `-` and `/`, as in `release/26.08`",
        )
    if _PREFIX.fullmatch(label):
        raise UsageError(f"`{label}` cannot be a label: it looks like an id", hint="take a word with other letters")
    if label == LATEST:
        raise UsageError(f"`{LATEST}` is always the newest state", hint="take another word")
    return label


def label_state(store: Store, name: str, label: str) -> Entry:
    """Give a state a label; a label that is there already moves.

    Raises:
        UsageError: there is no such state, or the label cannot be one.
        ToolError: the store cannot be reached, or others were faster for too long.
    """
    ref = f"{store.labels}{check_label(label)}"

    def attempt() -> Entry:
        view = look(store)
        entry = find_entry(view.newest_first, name, store)
        _check_neighbours(label, view)
        old = view.refs.labels.get(label, "")
        if old != entry.commit:
            move(store, [Move(ref=ref, old=old, new=entry.commit)])
        return entry

    attempted = until_won(store, attempt)
    return next((one for one in list_states(store) if one.key == attempted.key), attempted)


def _check_neighbours(label: str, view: View) -> None:
    for other in view.refs.labels:
        if other.startswith(f"{label}/") or label.startswith(f"{other}/"):
            raise UsageError(
                f"`{label}` cannot be a label beside `{other}`",
                hint="git keeps them as a folder and a file of one name",
            )


def remove_label(store: Store, name: str, label: str) -> Entry:
    """Take a label from a state.

    Raises:
        UsageError: the state does not have it.
        ToolError: the store cannot be reached, or others were faster for too long.
    """

    def attempt() -> Entry:
        view = look(store)
        entry = find_entry(view.newest_first, name, store)
        old = view.refs.labels.get(label, "")
        if not old or label not in entry.labels:
            raise UsageError(
                f"the state {entry.id[:12]} has no label `{label}`", hint="`ropewalk states list` shows which has"
            )
        move(store, [Move(ref=f"{store.labels}{label}", old=old, new="")])
        return entry

    return until_won(store, attempt)


def note_state(store: Store, name: str, text: str) -> Entry:
    """Add a line to the notes on a state, such as the outcome of its tests; one that is there already stays one.

    Raises:
        UsageError: there is no such state, or it is no line.
        ToolError: the store cannot be reached, or others were faster for too long.
    """
    line = note_line(text)

    def attempt() -> Entry:
        view = look(store)
        entry = find_entry(view.newest_first, name, store)
        notes = read_notes(store.git, view.refs.notes)
        noted = noted_object(store.git, entry.commit)
        if line not in notes.get(noted, ()):
            commit = write_notes(store.git, joined(notes, {noted: frozenset({line})}), view.refs.notes)
            move(store, [Move(ref=NOTES, old=view.refs.notes, new=commit, appends=True)])
        return entry

    return until_won(store, attempt)
