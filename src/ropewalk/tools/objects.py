"""Objects of remote repositories, kept on this machine: only those that were needed, each fetched once.

A kept repository holds commits without trees, trees without blobs: what git calls a partial clone. Unlike one, it never
fetches by itself; git would do so one object at a time. What is missing is asked for in one request, in a repository
made for it, and the packs that came are moved over.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.errors import ToolError
from ropewalk.tools.git import Git, canonical_url, check_url, init_bare
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

COMMITS_ONLY = "tree:0"
NO_BLOBS = "blob:none"
KEPT = "refs/kept/"


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

    def missing(self, objects: Iterable[str]) -> list[str]:
        """Return the objects that are not here."""
        wanted = sorted(set(objects))
        if not wanted:
            return []
        lines = self.git.lines("cat-file", "--batch-check", stdin="".join(f"{one}\n" for one in wanted).encode())
        return [one for one, line in zip(wanted, lines, strict=True) if line.endswith(" missing")]

    def fetch_history(self, url: str, commits: Iterable[str]) -> None:
        """Fetch commits and all that came before them, without their trees."""
        lacking = [commit for commit in commits if commit not in self._histories()]
        if lacking:
            self._fetch_refs(url, [f"{commit}:{KEPT}{commit}" for commit in lacking])

    def fetch_tags(self, url: str) -> None:
        """Fetch all tags and the history of what they are on, without trees."""
        self._fetch_refs(url, ["+refs/tags/*:refs/tags/*"])

    def _histories(self) -> set[str]:
        """Return the commits whose whole history is here."""
        return {name.removeprefix(KEPT) for name in self.git.lines("for-each-ref", "--format=%(refname)", KEPT)}

    def _fetch_refs(self, url: str, refspecs: Sequence[str]) -> None:
        with self._staging(url, COMMITS_ONLY, beside=True) as staging:
            staging.run("fetch", *_QUIET, f"--filter={COMMITS_ONLY}", "origin", *refspecs)
            self._take(staging)
            rows = staging.lines("for-each-ref", "--format=update %(refname) %(objectname)")
            self.git.run("update-ref", "--stdin", stdin="".join(f"{row}\n" for row in rows).encode())

    def fetch_trees(self, url: str, commits: Iterable[str]) -> None:
        """Fetch commits with all of their trees, without blobs and without what came before."""
        new = self._without_trees(commits)
        if new:
            with self._staging(url, NO_BLOBS) as staging:
                staging.run("fetch", *_QUIET, f"--filter={NO_BLOBS}", "--depth=1", "origin", *new)
                self._take(staging)

    def fetch_objects(self, url: str, objects: Iterable[str]) -> None:
        """Fetch single objects, all in one request."""
        new = self.missing(objects)
        if new:
            with self._staging(url, NO_BLOBS) as staging:
                stdin = "".join(f"{one}\n" for one in new).encode()
                staging.run("fetch", *_QUIET, f"--filter={NO_BLOBS}", "--stdin", "origin", stdin=stdin)
                self._take(staging)

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
        if self._without_trees([commit]):
            return [commit]
        tree = self.trees([commit])[commit]
        return self.missing(entry.object_id for entry in self.entries(tree) if entry.mode != "160000")

    def _without_trees(self, commits: Iterable[str]) -> list[str]:
        absent = self.missing(commits)
        here = sorted(set(commits) - set(absent))
        trees = self.trees(here)
        lost = set(self.missing(trees.values()))
        return sorted([*absent, *(commit for commit, tree in trees.items() if tree in lost)])

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

    @contextlib.contextmanager
    def _staging(self, url: str, kind: str, *, beside: bool = False) -> Iterator[Git]:
        """Yield a repository to fetch into; with `beside` it knows what is kept already."""
        check_url(url)
        folder = Path(tempfile.mkdtemp(prefix="fetch-", dir=self.folder))
        try:
            staging = init_bare(folder, object_format=self.git.text("rev-parse", "--show-object-format"))
            (folder / "config").write_text(_config(folder / "config", url, kind), encoding="utf-8")
            if beside:
                (folder / "objects" / "info").mkdir(exist_ok=True)
                kept = self.folder / "objects"
                (folder / "objects" / "info" / "alternates").write_text(f"{kept.resolve()}\n", encoding="utf-8")
                rows = self.git.lines("for-each-ref", "--format=%(objectname) %(refname)")
                (folder / "packed-refs").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
            yield staging
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _take(self, staging: Git) -> None:
        """Move packs over; a pack counts once its index is there, so that goes last."""
        if staging.git_dir is None:
            raise ValueError("the staging repository has no folder")
        packs = self.folder / "objects" / "pack"
        packs.mkdir(exist_ok=True)
        for pack in sorted((staging.git_dir / "objects" / "pack").glob("*.pack")):
            for path in (pack, pack.with_suffix(".idx")):
                path.replace(packs / path.name)
        loose = [path for path in (staging.git_dir / "objects").glob("??/*") if path.is_file()]
        for path in loose:
            target = self.folder / "objects" / path.parent.name / path.name
            target.parent.mkdir(exist_ok=True)
            path.replace(target)


_QUIET = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")


def _config(path: Path, url: str, kind: str) -> str:
    """Return a repository's configuration with the one remote that it fetches from, as a partial clone of it."""
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    return path.read_text(encoding="utf-8").replace("repositoryformatversion = 0", "repositoryformatversion = 1") + (
        "[extensions]\n\tpartialClone = origin\n"
        f'[remote "origin"]\n\turl = "{quoted}"\n\tpromisor = true\n\tpartialclonefilter = {kind}\n'
    )


def keep(cache: Path, url: str, *, object_format: str = "sha1") -> Kept:
    """Return what is kept of a repository below the folder `cache`; all spellings of its URL are one."""
    name = canonical_url(check_url(url))
    digest = hashlib.sha256(f"{object_format} {name}".encode()).hexdigest()[:20]
    folder = cache.absolute() / f"{name.rstrip('/').rpartition('/')[2][:40] or 'repository'}-{digest}.git"
    return Kept(git=init_bare(folder, object_format=object_format), folder=folder)


def default_cache() -> Path:
    """Return the folder in which objects are kept (the XDG base directory specification)."""
    named = os.environ.get("ROPEWALK_CACHE", "")
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".cache"
    return Path(named) if named else base / "ropewalk"


def fetch_from(kept: Kept, urls: Sequence[str], commits: Sequence[str]) -> str:
    """Fetch the history of commits from the first of `urls` that has all of them, and return that URL.

    Raises:
        ToolError: none has.
    """
    faults = []
    for url in urls:
        try:
            kept.fetch_history(url, commits)
        except ToolError as error:
            faults.append(error.message)
        else:
            return url
    raise ToolError("; ".join(faults) or "there is no URL to fetch from", hint="add a mirror that has the commit")
