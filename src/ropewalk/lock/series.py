"""Patches as bytes: taken from commits, written to files, applied to trees.

Everything happens on trees and indexes, never in a work tree, so that no line ending, file mode or attribute is
changed on the way; and every option of git that shapes a diff is given, so that no configuration shapes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.tools.process import ProcessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.tools.git import Git
    from ropewalk.tools.process import Finished

DIFF = (
    *("-r", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--diff-algorithm=myers", "--no-indent-heuristic", "--unified=3", "--inter-hunk-context=0"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none", "--submodule=short", "--no-commit-id"),
)
MAGIC = b"ropewalk patch 1\n"
COMMITTER = b"ropewalk <ropewalk@localhost>"
NOBODY = b"ropewalk <ropewalk@localhost>"

_FAILED = re.compile(r"^error: (?:patch failed: )?(.+?)(?::\d+|: .*)$", re.MULTILINE)
_IDENTITY = re.compile(rb"[^<>\n]*<[^<>\n]*> \d+ [+-]\d{4}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One commit of a patch: its author line (name, address, time and zone), its message, and the diff."""

    author: bytes
    message: bytes
    diff: bytes

    def render(self) -> bytes:
        """Return the patch file; `git apply` reads it as it is."""
        return MAGIC + b"author %b\nmessage %d\n%b\n" % (self.author, len(self.message), self.message) + self.diff

    @property
    def sha256(self) -> str:
        """The digest of the patch file, in hex."""
        return hashlib.sha256(self.render()).hexdigest()


def parse_change(data: bytes) -> Change:
    """Return the change that a patch file holds.

    Raises:
        IntegrityError: it is no patch file.
    """
    match = re.match(re.escape(MAGIC) + rb"author ([^\n]*)\nmessage (\d{1,9})\n", data)
    if match is None or not _IDENTITY.fullmatch(match[1]):
        raise IntegrityError("a patch of the lock is no patch file", hint="restore the lock from version control")
    end = match.end() + int(match[2])
    if data[end : end + 1] != b"\n":
        raise IntegrityError("a patch of the lock is cut off", hint="restore the lock from version control")
    return Change(author=match[1], message=data[match.end() : end], diff=data[end + 1 :])


def diff(git: Git, old: str, new: str) -> bytes:
    """Return the canonical diff between two trees."""
    return git.run("diff-tree", "-p", *DIFF, old, new, settings=("core.quotePath=true", "core.compression=9")).stdout


class Parts(NamedTuple):
    """A commit object, taken apart; times are seconds and zone."""

    author: bytes
    committer: bytes
    message: bytes

    @property
    def committed(self) -> bytes:
        """When it was committed."""
        return b" ".join(self.committer.rsplit(b" ", 2)[1:])


def commit_parts(git: Git, commits: Sequence[str]) -> list[Parts]:
    """Return the parts of commit objects.

    Raises:
        IntegrityError: one is not there, or is no commit.
    """
    raw = git.run("cat-file", "--batch", stdin="".join(f"{commit}\n" for commit in commits).encode()).stdout
    parts = []
    for commit in commits:
        about, _, raw = raw.partition(b"\n")
        _, kind, *sizes = about.split(b" ")
        if kind != b"commit":
            raise IntegrityError(f"{commit} is no commit here", hint="freeze again")
        size = int(sizes[0])
        head, _, message = raw[:size].partition(b"\n\n")
        headers = dict(reversed([line.split(b" ", 1) for line in head.split(b"\n") if b" " in line]))
        parts.append(Parts(headers[b"author"], headers[b"committer"], message))
        raw = raw[size + 1 :]
    return parts


def patch_id(git: Git, data: bytes) -> str:
    """Return what `git patch-id --stable` says of a diff: the same for the same change on other lines."""
    words = git.run("patch-id", "--stable", stdin=data).stdout.split()
    return words[0].decode() if words else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scratch:
    """An index of its own, and an empty work tree beside it.

    `git apply` can leave conflicts in a work tree though it is told to use the index only.
    """

    git: Git
    folder: Path

    def apply(self, changes: Iterable[Change]) -> list[str]:
        """Apply changes one after another and return the tree after each.

        Where the lines around a change have moved or changed, git merges it with three sides; where that conflicts,
        the change does not apply, and the index is of no more use.

        Raises:
            DoesNotApply: one does not.
        """
        trees = []
        for number, change in enumerate(changes):
            if change.diff:
                _apply_one(self, change, number)
            trees.append(self.run("write-tree", "--missing-ok").stdout.decode().strip())
        return trees

    def has(self, change: Change) -> bool:
        """Whether a change is there already: taking it back would work."""
        options = ("--cached", "--check", "--reverse", "--whitespace=nowarn", "--allow-empty", "-")
        return self.run("apply", *options, stdin=change.diff, codes=(0, 1, 128)).code == 0

    def run(self, *arguments: str, stdin: bytes = b"", codes: Sequence[int] = (0,)) -> Finished:
        """Run a git command on the index."""
        tree = self.folder / "tree"
        environ = {"GIT_INDEX_FILE": str(self.folder / "index"), "GIT_WORK_TREE": str(tree)}
        return self.git.run(*arguments, stdin=stdin, codes=codes, environ=environ, cwd=tree)


@contextlib.contextmanager
def scratch_index(git: Git, tree: str) -> Iterator[Scratch]:
    """Yield an index that holds a tree; it is gone afterwards. `git` must have no work tree of its own."""
    with tempfile.TemporaryDirectory(prefix="ropewalk-index-") as folder:
        scratch = Scratch(git=git, folder=Path(folder))
        (scratch.folder / "tree").mkdir()
        scratch.run("read-tree", tree)
        yield scratch


def apply(git: Git, tree: str, changes: Iterable[Change]) -> list[str]:
    """Apply changes to a tree, one after another, and return the tree after each.

    Raises:
        DoesNotApply: one does not.
    """
    with scratch_index(git, tree) as scratch:
        return scratch.apply(changes)


class DoesNotApply(UsageError):  # noqa: N818 - says what it is
    """A change does not fit the tree; `number` is its place in the series, `paths` are the files that it fails on."""

    def __init__(self, number: int, change: Change, said: str) -> None:
        self.number = number
        self.change = change
        self.paths = tuple(dict.fromkeys(_FAILED.findall(said)))
        subject = change.message.partition(b"\n")[0].decode(errors="replace")
        lines = "; ".join(line.removeprefix("error: ") for line in said.splitlines() if line.startswith("error: "))
        super().__init__(f"the change `{subject}` does not apply: {lines or said.strip()}")


def _apply_one(scratch: Scratch, change: Change, number: int) -> None:
    options = ("--cached", "--whitespace=nowarn", "--allow-empty", "-")
    try:
        scratch.run("apply", *options, stdin=change.diff)
    except ProcessError as error:
        said = error.stderr.decode(errors="replace")
    else:
        return
    try:
        scratch.run("apply", "--3way", *options, stdin=change.diff)
    except ProcessError as error:
        raise DoesNotApply(number, change, said) from error


def commit_series(git: Git, parent: str, when: bytes, steps: Iterable[tuple[Change, str]]) -> str:
    """Write commits of changes and their trees on top of `parent`, and return the last one's id.

    The committer is always the same and `when` (seconds and zone) the time of them all, so that the ids are the same
    on every machine.
    """
    for change, tree in steps:
        raw = b"tree %b\nparent %b\nauthor %b\ncommitter %b %b\n\n%b" % (
            *(tree.encode(), parent.encode(), change.author, COMMITTER, when),
            change.message,
        )
        parent = git.text("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw)
    return parent
