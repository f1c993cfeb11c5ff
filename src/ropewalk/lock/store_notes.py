"""What became of a state, such as the outcome of its tests: git notes.

A note is on the state's `sources.toml`, which is the same object wherever the state's commit is put, so that no note is
ever lost to a merge or prune: `git notes --ref=ropewalk show STATE:sources.toml`. A note is a set of lines; two
stores' notes are joined by joining the sets, in any order, any number of times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.lock.files import SOURCES
from ropewalk.lock.store_commits import AUTHOR, make_tree, read_blobs, write_blobs
from ropewalk.lock.store_refs import DURABLE
from ropewalk.tools.git import OBJECT_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.tools.git import Git

Notes = dict[str, frozenset[str]]
"""The lines of each note by the object that it is on."""

LONGEST = 10_000
"""Characters that a line may have."""


def note_line(text: str) -> str:
    """Return a text as a line of a note.

    Raises:
        UsageError: it is empty, too long, or of several lines.
    """
    line = text.strip()
    if not line or len(line) > LONGEST or not line.isprintable():
        raise UsageError(
            f"a note is one line of 1 to {LONGEST} printable characters", hint="keep the log elsewhere, and note where"
        )
    return line


def noted_object(git: Git, commit: str) -> str:
    """Return the object that the note of a state is on."""
    return git.text("rev-parse", "--verify", "--end-of-options", f"{commit}:{SOURCES}")


def read_notes(git: Git, notes: str) -> Notes:
    """Return all notes; `notes` is the commit that the notes' ref is at, empty for none."""
    if not notes:
        return {}
    texts = read_blobs(git, _listed(git, notes))
    return {noted: frozenset(_lines(text)) for noted, text in texts.items()}


def _listed(git: Git, notes: str) -> dict[str, str]:
    """Return the blob of each note. Once there are many, git puts them into folders named by two digits of the id."""
    top = [row.partition("\t") for row in git.lines("ls-tree", notes)]
    folders = [name for about, _, name in top if about.startswith("040000 tree ") and re.fullmatch("[0-9a-f]{2}", name)]
    rows = [("", about, name) for about, _, name in top]
    for folder in folders:
        below = (row.partition("\t") for row in git.lines("ls-tree", f"{notes}:{folder}"))
        rows += [(folder, about, name) for about, _, name in below]
    return {
        folder + name: about.split(" ")[2]
        for folder, about, name in rows
        if about.startswith("100644 blob ") and OBJECT_ID.fullmatch(folder + name)
    }


def _lines(text: bytes) -> list[str]:
    return [line for line in text.decode(errors="replace").splitlines() if line]


def joined(first: Mapping[str, frozenset[str]], second: Mapping[str, frozenset[str]]) -> Notes:
    """Return the notes of two stores as one."""
    return {noted: first.get(noted, frozenset()) | second.get(noted, frozenset()) for noted in {*first, *second}}


def write_notes(git: Git, notes: Mapping[str, frozenset[str]], *parents: str) -> str:
    """Write notes as a commit on top of others, and return it."""
    there = {blob for parent in parents if parent for blob in _listed(git, parent).values()}
    texts = {noted: "".join(f"{line}\n" for line in sorted(lines)).encode() for noted, lines in notes.items()}
    tree = make_tree(git, [f"100644 blob {blob}\t{noted}" for noted, blob in write_blobs(git, texts, there).items()])
    options = [part for parent in parents if parent for part in ("-p", parent)]
    done = git.run("commit-tree", tree, *options, stdin=b"Notes on states\n", environ=AUTHOR, settings=DURABLE)
    return done.stdout.decode().strip()
