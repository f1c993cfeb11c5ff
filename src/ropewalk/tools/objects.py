"""Objects of remote repositories, kept on this machine: only those that were needed, each fetched once.

A kept repository holds commits without trees, trees without blobs: what git calls a partial clone. Unlike one, it never
fetches by itself; git would do so one object at a time. What is missing is asked for in one request; where that cannot
be done, git fetches it into a repository made for it, and the packs that came are moved over.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.errors import ToolError
from ropewalk.tools.git import canonical_url, check_url, init_bare
from ropewalk.tools.git_protocol import Ask
from ropewalk.tools.incoming import QUIET, staging, take_in
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from ropewalk.tools.git import Git

COMMITS_ONLY = "tree:0"
NO_BLOBS = "blob:none"
SMALL_BLOBS = "blob:limit=1m"
"""A patch needs what is new in it; what is large is asked for by itself, once it is known to be needed."""
KEPT = "refs/kept/"
_MOST_HAVES = 32
"""Kept commits that a server is told of; the newest are the nearest."""


class Entry(NamedTuple):
    """A row of `git ls-tree`."""

    mode: str
    object_id: str
    path: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The objects kept of one repository; `git` runs in it and reaches no network."""

    git: Git
    folder: Path
    object_format: str = "sha1"

    def missing(self, objects: Iterable[str], shown: Mapping[str, str] | None = None) -> list[str]:
        """Return the objects that are not here; `shown` is an environment that shows git others beside."""
        wanted = sorted(set(objects))
        if not wanted:
            return []
        stdin = "".join(f"{one}\n" for one in wanted).encode()
        lines = self.git.run("cat-file", "--batch-check", stdin=stdin, environ=shown).stdout.decode().splitlines()
        return [one for one, line in zip(wanted, lines, strict=True) if line.endswith(" missing")]

    def fetch_history(self, url: str, commits: Iterable[str]) -> None:
        """Fetch commits and all that came before them, without their trees."""
        here = self._histories()
        if lacking := _without(commits, here):
            haves = here[:_MOST_HAVES]
            ask = self._ask(lacking, COMMITS_ONLY, haves)
            if take_in(self.git, self.folder, url, ask, lambda shown: self._new_trees(shown, lacking, haves)):
                self._mark(f"update {KEPT}{commit} {commit}" for commit in lacking)
            else:
                self._fetch_refs(url, [f"{commit}:{KEPT}{commit}" for commit in lacking])

    def fetch_line(self, url: str, commits: Iterable[str]) -> None:
        """Fetch commits and all that came before them, if possible with the trees and blobs of those that are new.

        Where trees of a commit that they come from are kept, one request brings all. A server leaves out every tree
        that any commit before has; where one is not here, as after a revert, only the history comes.
        """
        here = self._histories()
        lacking = _without(commits, here)
        if not lacking:
            return
        with_trees = self._complete_trees(here[:_MOST_HAVES])
        haves = list(with_trees)

        def prove(shown: Mapping[str, str]) -> None:
            self._read_trees(shown, [with_trees[haves[0]], *self._new_trees(shown, lacking, haves)])

        ask = self._ask(lacking, SMALL_BLOBS, haves)
        if haves and take_in(self.git, self.folder, url, ask, prove):
            self._mark(f"update {KEPT}{commit} {commit}" for commit in lacking)
        else:
            self.fetch_history(url, lacking)

    def fetch_tags(self, url: str) -> None:
        """Fetch all tags and the history of what they are on, without trees."""
        self._fetch_refs(url, ["+refs/tags/*:refs/tags/*"])

    def _ask(self, wants: Iterable[str], kind: str, haves: Iterable[str] = (), depth: int = 0) -> Ask:
        form = self.object_format
        return Ask(wants=tuple(wants), filter=kind, haves=tuple(haves), depth=depth, object_format=form)

    def _histories(self) -> list[str]:
        """Return the commits whose whole history is here, newest first."""
        rows = self.git.lines("for-each-ref", "--sort=-committerdate", "--format=%(refname)", KEPT)
        return [name.removeprefix(KEPT) for name in rows]

    def _mark(self, rows: Iterable[str]) -> None:
        self.git.run("update-ref", "--stdin", stdin="".join(f"{row}\n" for row in rows).encode())

    def _new_trees(self, shown: Mapping[str, str], commits: Iterable[str], haves: Sequence[str]) -> list[str]:
        """Return the trees of commits and all before them that `haves` do not have; all commits must be there."""
        options = ("--no-commit-header", "--format=%T", *commits, "--not", *haves)
        return self.git.run("rev-list", *options, environ=shown).stdout.decode().split()

    def _read_trees(self, shown: Mapping[str, str], trees: Sequence[str]) -> None:
        """Read all of the trees, the first of which is known to be complete; raise if one is not there."""
        pairs = [f"{old} {new}" for old, new in pairwise(trees)]
        command = ("diff-tree", "--stdin", "-r", "--raw", "--no-renames")
        said = self.git.run(*command, stdin="".join(f"{pair}\n" for pair in pairs).encode(), environ=shown).stdout
        # A tree within one ends git; a pair of which one is not there is only left out.
        if [row for row in said.decode().splitlines() if not row.startswith(":")] != pairs:
            raise ToolError("the server did not send all trees")

    def _fetch_refs(self, url: str, refspecs: Sequence[str]) -> None:
        with staging(self.git, self.folder, url, COMMITS_ONLY, beside=True) as stage:
            stage.run("fetch", *QUIET, f"--filter={COMMITS_ONLY}", "--", "origin", *refspecs)
            rows = stage.lines("for-each-ref", "--format=update %(refname) %(objectname)")
        self._mark(rows)

    def fetch_trees(self, url: str, commits: Iterable[str]) -> dict[str, str]:
        """Fetch commits with all of their trees, without blobs and without what came before; return their trees."""
        wanted = sorted(set(commits))
        complete = self._complete_trees(wanted)
        new = _without(wanted, complete)
        if not new:
            return complete
        ask = self._ask(new, NO_BLOBS, depth=1)
        if not take_in(self.git, self.folder, url, ask, lambda shown: self._list_trees(shown, new)):
            with staging(self.git, self.folder, url, NO_BLOBS) as stage:
                stage.run("fetch", *QUIET, f"--filter={NO_BLOBS}", "--depth=1", "--", "origin", *new)
        return {**complete, **self.trees(new)}

    def _list_trees(self, shown: Mapping[str, str], commits: Iterable[str]) -> None:
        for commit in commits:
            self.git.run("ls-tree", "-r", "--name-only", commit, environ=shown)

    def fetch_objects(self, url: str, objects: Iterable[str]) -> None:
        """Fetch single objects, all in one request."""
        new = self.missing(objects)
        if new and not take_in(
            self.git, self.folder, url, self._ask(new, NO_BLOBS), lambda shown: self._need(new, shown)
        ):
            with staging(self.git, self.folder, url, NO_BLOBS) as stage:
                stdin = "".join(f"{one}\n" for one in new).encode()
                stage.run("fetch", *QUIET, f"--filter={NO_BLOBS}", "--stdin", "origin", stdin=stdin)

    def _need(self, objects: Iterable[str], shown: Mapping[str, str]) -> None:
        if lacking := self.missing(objects, shown):
            raise ToolError(f"the server did not send {lacking[0]}")

    def trees(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the tree of each commit."""
        stdin = "".join(f"{commit}\n" for commit in commits).encode()
        if not stdin:
            return {}
        rows = self.git.lines("rev-list", "--no-walk", "--no-commit-header", "--format=%H %T", "--stdin", stdin=stdin)
        return dict(row.split() for row in rows)

    def entries(self, tree: str) -> list[Entry]:
        """Return everything in a tree that is no tree itself, at any depth."""
        listed = []
        for row in filter(None, self.git.run("ls-tree", "-r", "-z", tree).stdout.split(b"\0")):
            about, _, path = row.partition(b"\t")
            mode, _, object_id = about.decode().split(" ")
            listed.append(Entry(mode, object_id, path))
        return listed

    def lacking(self, commit: str) -> list[str]:
        """Return what is not here of what a commit needs in a work tree: itself, or blobs."""
        tree = self._complete_trees([commit]).get(commit)
        if tree is None:
            return [commit]
        return self.missing(entry.object_id for entry in self.entries(tree) if entry.mode != "160000")

    def _complete_trees(self, commits: Sequence[str]) -> dict[str, str]:
        """Return the tree of each commit that is here with its trees; they came with it or not at all."""
        stdin = "".join(f"{commit}^{{tree}}\n" for commit in commits).encode()
        rows = self.git.lines("cat-file", "--batch-check=%(objectname)", stdin=stdin) if commits else []
        return {commit: row for commit, row in zip(commits, rows, strict=True) if not row.endswith(" missing")}

    def write_pack(self, commit: str, folder: Path) -> Path:
        """Write a pack of a commit, its trees and its blobs, without history, into a folder; return its path."""
        tree = self.trees([commit])[commit]
        rows = self.git.run("ls-tree", "-r", "-t", "-z", tree).stdout.split(b"\0")
        objects = {commit.encode(), tree.encode()}
        for row in filter(None, rows):
            mode, _, object_id = row.partition(b"\t")[0].split(b" ")
            if mode != b"160000":
                objects.add(object_id)
        folder.mkdir(parents=True, exist_ok=True)
        stdin = b"".join(one + b"\n" for one in sorted(objects))
        # One thread, so that the same objects make the same pack.
        digest = self.git.text("pack-objects", "--quiet", "--threads=1", str(folder.absolute() / "pack"), stdin=stdin)
        return folder / f"pack-{digest}.pack"

    def take_pack(self, pack: Path) -> None:
        """Take the objects of a pack in; git computes the id of each, so that none is what it is not."""
        target = self.folder / "objects" / "pack" / f"pack-{pack.stem}.pack"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(pack, target)
        try:
            self.git.run("index-pack", str(target))
        except ToolError:
            target.unlink()
            raise

    def complete(self, commit: str, places: Iterable[str]) -> None:
        """Fetch all that a commit needs in a work tree from the first of `places` that has it.

        Raises:
            ToolError: none of them has, or there are none.
        """
        faults = []
        for place in places:
            if not self.lacking(commit):
                return
            try:
                self.fetch_trees(check_url(place), [commit])
                self.fetch_objects(place, self.lacking(commit))
            except ToolError as error:
                faults.append(f"`{without_secrets(place)}`: {error.message}")
        if lacking := self.lacking(commit):
            reason = "; ".join(faults) or f"{len(lacking)} of its objects are not on this machine"
            raise ToolError(
                f"the commit {commit} cannot be had: {reason}",
                hint="it may have been force-pushed away: name a mirror that has it, or take a lock with `--archive`",
            )


def _without(wanted: Iterable[str], here: Container[str]) -> list[str]:
    return [one for one in wanted if one not in here]


def keep(cache: Path, url: str, *, object_format: str = "sha1") -> Kept:
    """Return what is kept of a repository below the folder `cache`; all spellings of its URL are one."""
    name = canonical_url(check_url(url))
    digest = hashlib.sha256(f"{object_format} {name}".encode()).hexdigest()[:20]
    folder = cache.absolute() / f"{name.rstrip('/').rpartition('/')[2][:40] or 'repository'}-{digest}.git"
    return Kept(git=init_bare(folder, object_format=object_format), folder=folder, object_format=object_format)


def default_cache() -> Path:
    """Return the folder in which objects are kept (the XDG base directory specification)."""
    named = os.environ.get("ROPEWALK_CACHE", "")
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".cache"
    return Path(named) if named else base / "ropewalk"


def fetch_from(fetch: Callable[[str, Sequence[str]], object], urls: Sequence[str], commits: Sequence[str]) -> str:
    """Fetch commits, with a method of `Kept`, from the first of `urls` that has all of them; return that URL.

    Raises:
        ToolError: none has.
    """
    faults = []
    for url in urls:
        try:
            fetch(url, commits)
        except ToolError as error:
            faults.append(error.message)
        else:
            return url
    raise ToolError("; ".join(faults) or "there is no URL to fetch from", hint="add a mirror that has the commit")
