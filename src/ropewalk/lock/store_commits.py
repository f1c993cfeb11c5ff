"""States as commits: the files of a lock at the root of a tree, what it is in a message.

At the root, so that `git diff A B` says what moved, `git log -p sources.toml` how one source went, and a patch that
stays is the same blob in every commit. Nothing in a store is trusted: what is read is checked, one level at a time.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Finding
from ropewalk.lock.files import PATCHES, SOURCES, STATE, lock_files, sources_text
from ropewalk.lock.state import state_id
from ropewalk.lock.store_refs import DURABLE, read_refs
from ropewalk.tools.git import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from ropewalk.lock.state import State
    from ropewalk.lock.store_place import Store
    from ropewalk.lock.store_refs import Refs
    from ropewalk.tools.git import Git

LATEST = "latest"
"""The label that the newest state always has; it is no ref of its own, so that it is never behind."""
LARGEST = 1 << 26
"""Bytes that the files of a state may have, all together: some kilobytes of objects can stand for any number."""
MOST_FILES = 10_000

AUTHOR = {"GIT_AUTHOR_NAME": IDENTITY["GIT_COMMITTER_NAME"], "GIT_AUTHOR_EMAIL": IDENTITY["GIT_COMMITTER_EMAIL"]}

_MESSAGE = re.compile(r"^State: ([0-9a-f]{64})\nSources: (\d{1,9})\nDegraded: (\d{1,9})$", re.MULTILINE)
_PATCH = re.compile(r"[0-9a-f]{64}\.patch")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A state of a store: its id, the commit that holds it, when it was frozen (RFC 3339, UTC), and its labels.

    `sources` and `degraded` count its sources and those that could not be brought up to date.
    """

    id: str
    commit: str
    time: str
    sources: int
    degraded: int
    labels: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What it is whatever its commit: its id and when it was frozen."""
        return self.id, self.time


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """What a store held when it was looked at.

    `line` is the branch, the oldest first; `aside` are labelled states that are not on it; `commits` all commits of the
    branch.
    """

    refs: Refs
    line: tuple[Entry, ...]
    aside: tuple[Entry, ...]
    commits: frozenset[str]

    @property
    def newest_first(self) -> tuple[Entry, ...]:
        """All states, by when they were frozen; of the same time, the one that came last goes first."""
        entries = sorted((*self.aside, *self.line), key=lambda entry: entry.time)[::-1]
        return tuple(_labelled(entry, LATEST) if at == 0 else entry for at, entry in enumerate(entries))


def _labelled(entry: Entry, *labels: str) -> Entry:
    return replace(entry, labels=tuple(sorted({*entry.labels, *labels}))) if labels else entry


def look(store: Store) -> View:
    """Return what a store holds now.

    A label on a commit that is not on the branch belongs to the same state there: whoever moved the branch to other
    commits may have been killed before the labels followed.

    Raises:
        ToolError: it cannot be reached.
    """
    refs = read_refs(store)
    rows = _log(store.git, refs.tip) if refs.tip else []
    line = [entry for _, entry in reversed(rows) if entry is not None]
    commits = frozenset(commit for commit, _ in rows)
    elsewhere = {commit for commit in refs.labels.values() if commit not in commits}
    strays = {commit: entry for commit, entry in _log(store.git, *_commits(store.git, elsewhere), walk=False) if entry}
    newest = {entry.key: entry.commit for entry in line}
    labels: dict[str, list[str]] = {}
    for label, commit in refs.labels.items():
        home = newest.get(strays[commit].key, commit) if commit in strays else commit
        labels.setdefault(home, []).append(label)
    aside = sorted((one for one in strays.values() if one.key not in newest), key=lambda one: one.time)
    return View(
        refs=refs,
        line=tuple(_labelled(entry, *labels.get(entry.commit, ())) for entry in line),
        aside=tuple(_labelled(entry, *labels.get(entry.commit, ())) for entry in aside),
        commits=commits,
    )


def check_line(view: View, store: Store) -> None:
    """Refuse a branch of somebody's work: its files would be replaced by a lock's.

    Raises:
        UsageError: it ends with a commit that is no state.
    """
    if view.refs.tip and (not view.line or view.line[-1].commit != view.refs.tip):
        raise UsageError(
            f"`{store.branch}` of `{store.name}` ends with a commit that is no state",
            hint="name a branch for states alone with `--branch`",
        )


def _commits(git: Git, objects: Iterable[str]) -> list[str]:
    """Return those objects that are commits; a ref can be at anything."""
    wanted = sorted(objects)
    lines = git.lines("cat-file", "--batch-check", stdin=_rows(wanted)) if wanted else []
    return [one for one, line in zip(wanted, lines, strict=True) if line.split(" ")[1:2] == ["commit"]]


def _log(git: Git, *commits: str, walk: bool = True) -> list[tuple[str, Entry | None]]:
    """Return commits, the newest first, each with the state that it says it holds."""
    if not commits:
        return []
    options = ("-z", "--format=%H %ct %B", "--no-show-signature", "--no-notes", *(() if walk else ("--no-walk",)))
    output = git.run("log", *options, "--end-of-options", *commits, "--").stdout.decode(errors="replace")
    return [_entry(*row.split(" ", 2)) for row in output.split("\0") if row]


def _entry(commit: str, when: str, message: str) -> tuple[str, Entry | None]:
    match = _MESSAGE.search(message)
    if match is None:
        return commit, None
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(when)))
    return commit, Entry(id=match[1], commit=commit, time=moment, sources=int(match[2]), degraded=int(match[3]))


# Writing


def entry_of(state: State) -> Entry:
    """Return what a store will say of a state, without a commit yet.

    Raises:
        UsageError: its time is none that git can keep.
    """
    try:
        moment = datetime.fromisoformat(state.time)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year < 1970:
        raise UsageError(f"the lock says that it was frozen at `{state.time}`, which is no time", hint="freeze again")
    return Entry(
        id=state_id(sources_text(state.sources)),
        commit="",
        time=moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        sources=len(state.sources),
        degraded=sum(bool(source.degraded) for source in state.sources),
    )


def write_tree(git: Git, state: State, tip: str) -> str:
    """Write the files of a lock as a tree, which shares all that has stayed with the commit `tip`."""
    rows_there = (*_rows_of(git, tip), *_rows_of(git, f"{tip}:{PATCHES}")) if tip else ()
    there = {row.object_id for row in rows_there if row.size is not None}
    rows: dict[str, list[str]] = {"": []}
    for path, blob in write_blobs(git, lock_files(state), there).items():
        folder, _, name = path.rpartition("/")
        rows.setdefault(folder, []).append(f"100644 blob {blob}\t{name}")
    if PATCHES in rows:
        rows[""].append(f"040000 tree {make_tree(git, rows[PATCHES])}\t{PATCHES}")
    return make_tree(git, rows[""])


def write_blobs(git: Git, contents: Mapping[str, bytes], there: Container[str]) -> dict[str, str]:
    """Write contents as blobs, but for those that are `there`, and return their ids by the same names."""
    algorithm = git.text("rev-parse", "--show-object-format")
    written = {}
    for name, data in contents.items():
        blob = hashlib.new(algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        if blob not in there:
            git.run("hash-object", "-w", "--stdin", stdin=data, settings=DURABLE)
        written[name] = blob
    return written


def make_tree(git: Git, rows: Iterable[str]) -> str:
    """Write a tree with rows as `git ls-tree` prints them."""
    return git.run("mktree", stdin=_rows(rows), settings=DURABLE).stdout.decode().strip()


def write_commit(git: Git, tree: str, entry: Entry, parent: str) -> str:
    """Write the commit of a state. Who and when are the state's, so that one state on one parent is one commit."""
    title = f"state {entry.id[:12]}: {entry.sources} source{'' if entry.sources == 1 else 's'}"
    title += f", {entry.degraded} degraded" if entry.degraded else ""
    message = f"{title}\n\nState: {entry.id}\nSources: {entry.sources}\nDegraded: {entry.degraded}\n"
    moment = f"@{int(datetime.fromisoformat(entry.time).timestamp())} +0000"
    environ = {**AUTHOR, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    parents = ("-p", parent) if parent else ()
    done = git.run("commit-tree", tree, *parents, stdin=message.encode(), environ=environ, settings=DURABLE)
    return done.stdout.decode().strip()


def put_on(git: Git, entry: Entry, parent: str) -> str:
    """Return the commit of a state with another parent; it is the same commit where that is its parent already."""
    return write_commit(git, git.text("rev-parse", f"{entry.commit}^{{tree}}"), entry, parent)


# Reading


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row of a tree; `size`, in bytes, is None for what is no file, or not there."""

    mode: str
    object_id: str
    size: int | None
    name: str

    @property
    def lost(self) -> bool:
        """Whether it is a file of which there is nothing but the name."""
        return self.size is None and self.mode.startswith("100")


def _rows_of(git: Git, tree: str) -> tuple[Row, ...]:
    """Return the rows of one tree, none if it is not there.

    Never those below: some kilobytes of trees can stand for more paths than fit on any disk.
    """
    done = git.run("ls-tree", "-z", "-l", tree, codes=(0, 128))
    found = []
    for row in filter(None, done.stdout.split(b"\0") if done.code == 0 else ()):
        about, _, name = row.partition(b"\t")
        mode, _, object_id, size = about.decode().split()
        length = int(size) if size.isdecimal() else None
        found.append(Row(mode=mode, object_id=object_id, size=length, name=name.decode(errors="backslashreplace")))
    return tuple(found)


def read_files(git: Git, tree: str, name: str) -> dict[str, bytes]:
    """Return the files of a lock in a tree; other files are left alone.

    Raises:
        IntegrityError: there is something that no lock has.
    """
    top, patches = _rows_of(git, tree), _rows_of(git, f"{tree}:{PATCHES}")
    wanted = {row.name: row for row in top if row.name in (STATE, SOURCES)}
    wanted |= {f"{PATCHES}/{row.name}": row for row in patches if _PATCH.fullmatch(row.name)}
    faults = [*_faults(top, ""), *_faults(patches, f"{PATCHES}/")]
    faults += [f"`{path}` is not in the repository" for path, row in wanted.items() if row.lost]
    faults += [f"`{path}` has {row.size} bytes" for path, row in wanted.items() if (row.size or 0) > LARGEST]
    if not faults and (size := sum(row.size or 0 for row in wanted.values())) > LARGEST:
        faults = [f"its files have {size} bytes"]
    if len(top) + len(patches) > MOST_FILES:
        faults = [f"it has {len(top) + len(patches)} files"]
    if faults:
        raise IntegrityError(
            f"`{name}` is no state that ropewalk wrote",
            hint="somebody wrote to the store by other means: take another state, or freeze again",
            findings=[Finding(rule="store/tree", message=fault, subject=name) for fault in faults],
        )
    return dict(zip(wanted, _blobs(git, [row.object_id for row in wanted.values()]), strict=True))


def _faults(rows: Iterable[Row], folder: str) -> Iterator[str]:
    for row in rows:
        path = f"{folder}{row.name}"
        if not row.name.isprintable() or row.name in (".", "..") or re.search(r"[/\\]", row.name):
            yield f"`{ascii(path)[1:-1]}` is not the name of a file"
        elif row.name.casefold() == ".git":
            yield f"`{path}` is git's own"
        elif row.mode not in ("100644", "100755", "040000"):
            kinds = {"120000": "a symbolic link", "160000": "a submodule"}
            yield f"`{path}` is {kinds.get(row.mode, f'of mode {row.mode}')}, not a plain file"
        elif row.mode == "040000" and (folder or row.name in (STATE, SOURCES)):
            yield f"`{path}` is a folder, not a plain file"


def _blobs(git: Git, objects: Sequence[str]) -> Iterator[bytes]:
    output = git.run("cat-file", "--batch", stdin=_rows(objects)).stdout if objects else b""
    at = 0
    for _ in objects:
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[2])
        yield output[end + 1 : end + 1 + size]
        at = end + 2 + size


def read_blobs(git: Git, objects: Mapping[str, str]) -> dict[str, bytes]:
    """Return blobs by what `objects` calls them; those that are too large, or none, are left out."""
    lines = git.lines("cat-file", "--batch-check", stdin=_rows(objects.values())) if objects else []
    sizes = [line.split(" ") for line in lines]
    fit = [
        name for name, parts in zip(objects, sizes, strict=True) if parts[1:2] == ["blob"] and int(parts[2]) <= LARGEST
    ]
    return dict(zip(fit, _blobs(git, [objects[name] for name in fit]), strict=True))


def _rows(rows: Iterable[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()
