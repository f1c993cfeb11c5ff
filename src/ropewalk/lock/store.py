"""Where states are kept: an orphan branch of a repository, one commit for each state that is news.

A state is a tree with the files of a lock. Commits are written by plumbing, in no work tree, and a push that lost a
race is put on top of what won it, so that every state ends up in one line of history. Labels are refs to commits.
"""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError, UsageError
from ropewalk.lock.files import STATE, lock_files, parse_lock, sources_text
from ropewalk.lock.state import State, state_id
from ropewalk.tools.git import OBJECT_ID, Git, check_url, init_bare
from ropewalk.tools.objects import keep
from ropewalk.tools.process import ProcessError, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BRANCH = "refs/heads/ropewalk/states"
LABELS = "refs/ropewalk/labels/"
TRIES = 60
"""How often a push is tried again that others were faster than."""
LONGEST_PAUSE = 2.0
STALE = 10.0
"""Seconds after which a lock file of git is taken for one that a killed process left."""
IDENTITY = ("GIT_AUTHOR_NAME=ropewalk", "GIT_AUTHOR_EMAIL=ropewalk@localhost")

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*")
_PREFIX = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A state of a store: its id, the commit that holds it, when it was frozen, and its labels."""

    id: str
    commit: str
    time: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushed:
    """A state in a store; `new` is False where it was the newest already."""

    id: str
    commit: str
    new: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """A branch of a repository: on this machine, or behind `url`, with a repository here to work in."""

    git: Git
    url: str = ""
    branch: str = BRANCH

    @property
    def name(self) -> str:
        """What messages call it."""
        return without_secrets(self.url) if self.url else str(self.git.git_dir)


def open_store(place: str, cache: Path, branch: str = BRANCH) -> Store:
    """Return the store at a path or URL; a folder that is not there becomes a bare repository.

    Raises:
        UsageError: it is no repository, may not be fetched from, or the branch's name is none.
    """
    if not branch.startswith("refs/") or Git().run("check-ref-format", branch, codes=(0, 1)).code:
        raise UsageError(f"`{branch}` is not the full name of a ref", hint=f"write it like `{BRANCH}`")
    if "://" in place:
        return Store(git=keep(cache, check_url(place)).git, url=place, branch=branch)
    path = Path(place)
    if not path.exists():
        return Store(git=init_bare(path), branch=branch)
    found = Git().run("rev-parse", "--absolute-git-dir", codes=(0, 128), cwd=path)
    if found.code or not path.is_dir():
        raise UsageError(f"`{place}` is no git repository", hint="name one, or a folder that is not there yet")
    return Store(git=Git(git_dir=Path(found.stdout.decode().rstrip("\n"))), branch=branch)


# Reading


def list_states(store: Store) -> tuple[Entry, ...]:
    """Return the states of a store, the newest first."""
    tip = _fetch_tip(store)
    if not tip:
        return ()
    labels: dict[str, list[str]] = {}
    for label, commit in _labels(store).items():
        labels.setdefault(commit, []).append(label)
    rows = store.git.run("log", "-z", "--format=%H %ct %B", tip).stdout.decode(errors="replace").split("\0")
    entries = []
    for row in filter(None, rows):
        commit, when, message = row.split(" ", 2)
        match = re.search(r"^state ([0-9a-f]{64})$", message, re.MULTILINE)
        if match:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(when)))
            entries.append(Entry(id=match[1], commit=commit, time=moment, labels=tuple(sorted(labels.get(commit, ())))))
    return tuple(entries)


def read_state(store: Store, name: str) -> State:
    """Return a state by its id (eight digits of it are enough), its label, or its commit.

    Raises:
        UsageError: there is none, or several.
        IntegrityError: its files are not what it says they are.
    """
    entry = find_entry(list_states(store), name, store)
    return parse_lock(_files_of(store.git, entry.commit), f"{store.name}:{entry.id[:12]}")


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
    where = path or lock.as_posix()
    if git.run("rev-parse", "--quiet", "--verify", f"{revision}:{where}/{STATE}", codes=(0, 1, 128)).code:
        return None
    return parse_lock(_files_of(git, f"{revision}:{where}"), f"{revision}:{where}")


def _files_of(git: Git, tree: str) -> dict[str, bytes]:
    """Return the files of a lock in a tree; what a lock does not have is left alone."""
    files = {}
    for row in filter(None, git.run("ls-tree", "-r", "-z", tree).stdout.split(b"\0")):
        about, _, path = row.partition(b"\t")
        mode, kind, object_id = about.decode().split(" ")
        if mode == "100644" and kind == "blob" and re.fullmatch(rb"[\w.]+|patches/[0-9a-f]{64}\.patch", path):
            files[path.decode()] = git.run("cat-file", "blob", object_id).stdout
    return files


def find_entry(entries: Sequence[Entry], name: str, store: Store) -> Entry:
    """Return the entry that an id, label or commit names.

    Raises:
        UsageError: there is none, or several.
    """
    found = [entry for entry in entries if name in (entry.id, entry.commit, *entry.labels)]
    if not found and _PREFIX.fullmatch(name):
        found = [entry for entry in entries if entry.id.startswith(name) or entry.commit.startswith(name)]
    ids = {entry.id for entry in found}
    if len(ids) != 1:
        what = "names several states" if ids else "names no state"
        raise UsageError(f"`{name}` {what} of `{store.name}`", hint="`ropewalk states list` shows them")
    return found[0]


def _labels(store: Store) -> dict[str, str]:
    if store.url:
        lines = Git().lines("ls-remote", "--quiet", "--", store.url, f"{LABELS}*")
        pairs = [line.split("\t")[::-1] for line in lines]
    else:
        pairs = [
            line.split(" ") for line in store.git.lines("for-each-ref", "--format=%(refname) %(objectname)", LABELS)
        ]
    return {name.removeprefix(LABELS): commit for name, commit in pairs}


def _fetch_tip(store: Store) -> str:
    """Return the branch's newest commit, fetched if it is elsewhere; empty for a store without states."""
    if not store.url:
        done = store.git.run("rev-parse", "--quiet", "--verify", f"{store.branch}^{{commit}}", codes=(0, 1, 128))
        return done.stdout.decode().strip() if done.code == 0 else ""
    lines = Git().lines("ls-remote", "--quiet", "--", store.url, store.branch)
    tip = next((line.split("\t")[0] for line in lines if line.endswith(f"\t{store.branch}")), "")
    if tip and store.git.run("cat-file", "-e", f"{tip}^{{tree}}", codes=(0, 1, 128)).code:
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        store.git.run("fetch", *options, "--", store.url, tip)
    return tip


# Writing


def push_state(state: State, store: Store) -> Pushed:
    """Put a state into a store, on top of what is there; one that is the newest already is no news.

    Raises:
        ToolError: the store cannot be reached, or others were faster for too long.
    """
    identifier = state_id(sources_text(state.sources))
    tree = _write_tree(store.git, lock_files(state))
    for number in range(TRIES):
        tip = _fetch_tip(store)
        if tip and _same_state(store.git, tip, identifier):
            return Pushed(id=identifier, commit=tip, new=False)
        commit = _commit(store.git, tree, tip, identifier, state.time)
        if _move(store, store.branch, tip, commit):
            return Pushed(id=identifier, commit=commit, new=True)
        _pause(number)
    raise ToolError(f"`{store.name}` changed {TRIES} times while a state was pushed", hint="try again")


def _same_state(git: Git, tip: str, identifier: str) -> bool:
    return f"state {identifier}" in git.text("log", "-1", "--format=%B", tip).splitlines()


def _write_tree(git: Git, files: dict[str, bytes]) -> str:
    """Write the files of a lock as a tree; a patch that another state has is the same blob."""
    folders: dict[str, list[tuple[str, str]]] = {"": []}
    for path, data in sorted(files.items()):
        folder, _, name = path.rpartition("/")
        blob = git.text("hash-object", "-w", "--stdin", stdin=data)
        folders.setdefault(folder, []).append((name, f"100644 blob {blob}\t{name}"))
    for folder in [name for name in folders if name]:
        tree = git.text("mktree", stdin=_rows(row for _, row in folders[folder]))
        folders[""].append((folder, f"040000 tree {tree}\t{folder}"))
    return git.text("mktree", stdin=_rows(row for _, row in folders[""]))


def _rows(rows: Iterable[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def _commit(git: Git, tree: str, parent: str, identifier: str, when: str) -> str:
    """Write the commit of a state: who and when are the state's, so that one state on one parent is one commit."""
    environ = dict(pair.split("=", 1) for pair in IDENTITY) | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    parents = ("-p", parent) if parent else ()
    return git.text("commit-tree", tree, *parents, stdin=f"state {identifier}\n".encode(), environ=environ)


def _move(store: Store, ref: str, old: str, new: str) -> bool:
    """Move a ref from `old` (empty: it is not there yet) to `new`, unless somebody else was faster."""
    try:
        if store.url:
            lease = f"--force-with-lease={ref}:{old}"
            store.git.run("push", "--quiet", "--no-verify", lease, "--", store.url, f"{new}:{ref}")
        else:
            _clear_stale_lock(store.git, ref)
            store.git.run("update-ref", "--create-reflog", ref, new, old or "0" * len(new))
    except ProcessError as error:
        if re.search(rb"stale info|rejected|cannot lock ref|failed to update|File exists|remote ref", error.stderr):
            return False
        raise
    return True


def _clear_stale_lock(git: Git, ref: str) -> None:
    """Remove the lock file of a git that was killed; one that works needs no more than a moment."""
    if git.git_dir is None:
        return
    lock = git.git_dir / f"{ref}.lock"
    try:
        if time.time() - lock.stat().st_mtime > STALE:
            lock.unlink()
    except FileNotFoundError:
        return


def _pause(number: int) -> None:
    # Those who met once would meet again after the same pause.
    time.sleep(min(LONGEST_PAUSE, 0.01 * 1.5**number) * (0.5 + random.random()))  # noqa: S311 - no secret


def label_state(store: Store, name: str, label: str) -> Entry:
    """Give a state a label; a label that is there already moves.

    Raises:
        UsageError: there is no such state, or the label cannot be one.
    """
    if not _LABEL.fullmatch(label) or OBJECT_ID.fullmatch(label) or _PREFIX.fullmatch(label):
        raise UsageError(
            f"`{label}` cannot be a label",
            hint="write letters, digits, `.`, `_`, `+`, `-` and `/`, as in `release/26.08`",
        )
    entry = find_entry(list_states(store), name, store)
    for number in range(TRIES):
        old = _labels(store).get(label, "")
        if old == entry.commit or _move(store, f"{LABELS}{label}", old, entry.commit):
            return entry
        _pause(number)
    raise ToolError(f"the label `{label}` of `{store.name}` changed {TRIES} times", hint="try again")


def prune_states(store: Store, *, keep_last: int, dry_run: bool) -> tuple[Entry, ...]:
    """Drop the states that have no label, but for the last few; return those that are dropped.

    The branch gets a new line of history with what is kept; labels move along.

    Raises:
        UsageError: the store is elsewhere, or nothing would be left.
    """
    if store.url:
        raise UsageError("states can only be pruned where they are kept", hint="run it in that repository")
    if keep_last < 1:
        raise UsageError("at least one state has to be kept", hint="write `--keep-last 1` or more")
    entries = list_states(store)
    kept = [entry for at, entry in enumerate(entries) if at < keep_last or entry.labels]
    dropped = tuple(entry for entry in entries if entry not in kept)
    if dry_run or not dropped:
        return dropped
    parent = ""
    moved = {}
    for entry in reversed(kept):
        tree = store.git.text("rev-parse", f"{entry.commit}^{{tree}}")
        parent = _commit(store.git, tree, parent, entry.id, entry.time)
        moved[entry.commit] = parent
    moves = [f"update {store.branch} {parent} {entries[0].commit}"]
    moves += [
        f"update {LABELS}{label} {moved[commit]} {commit}"
        for label, commit in _labels(store).items()
        if commit in moved
    ]
    # All refs move at once, or none does.
    store.git.run("update-ref", "--stdin", stdin=_rows(["start", *moves, "prepare", "commit"]))
    return dropped
