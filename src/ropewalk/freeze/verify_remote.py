"""Questions to a repository elsewhere: which refs it has, whether it serves a commit, what is behind its branches."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.freeze.refs import look_up
from ropewalk.tools.git import OBJECT_ID, Git, check_url, init_bare
from ropewalk.tools.objects import Kept, keep
from ropewalk.tools.process import ProcessError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.errors import ToolError

AT_ONCE = 400
"""Commits that are asked for in one request; each stands on a command line."""

_NOT_THERE = re.compile(
    rb"not our ref|unadvertised object|no such remote ref|couldn't find remote ref|bad object"
    rb"|(?:not send all|missing) necessary objects"
)
_GONE = re.compile(
    r"not found|does not exist|does not appear to be a git repository|could not read Username"
    r"|Authentication failed|returned error: 40[134]|returned error: 410"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """The refs of a repository with the commits they lead to; `rounds` are tips of branches and tags, as one asks.

    The default branch comes first: it has nearly everything that was ever frozen.
    """

    refs: Mapping[str, str]
    rounds: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    @property
    def tips(self) -> set[str]:
        """What branches and tags are at."""
        return {tip for tips in self.rounds for tip in tips}


def list_refs(url: str, refs: Sequence[str], *, every: bool) -> Listing:
    """Ask a repository, in one request, for some refs, and with `every` for all branches and tags too.

    Raises:
        ToolError: it cannot be reached.
    """
    if not every:
        advertised = look_up(url, refs)
        return Listing(refs={**advertised.objects, **advertised.peeled})
    patterns = ["HEAD", "refs/heads/*", "refs/tags/*", *(ref for ref in refs if ref.startswith("refs/"))]
    found: dict[str, str] = {}
    for line in Git().lines("ls-remote", "--quiet", "--", check_url(url), *patterns):
        object_id, _, name = line.partition("\t")
        if OBJECT_ID.fullmatch(object_id):
            found[name.removesuffix("^{}")] = object_id  # a peeled line comes after its tag's
    return Listing(refs=found, rounds=tuple(_rounds(found)))


def _rounds(refs: Mapping[str, str]) -> list[tuple[str, ...]]:
    head = [object_id for name, object_id in refs.items() if name == "HEAD"]
    branches = [object_id for name, object_id in refs.items() if name.startswith("refs/heads/")]
    tags = [object_id for name, object_id in refs.items() if name.startswith("refs/tags/")]
    rounds: list[tuple[str, ...]] = []
    known: set[str] = set()
    for tips in (head, branches, tags):
        new = sorted(set(tips) - known)
        known |= set(new)
        rounds += [tuple(new[at : at + AT_ONCE]) for at in range(0, len(new), AT_ONCE)]
    return rounds


def is_gone(error: ToolError) -> bool:
    """Whether a failure says that there is no such repository, or none for this machine; it may just be out of reach.

    Servers do not tell one from the other: who may not see a repository is told that there is none, or asked to log in.
    """
    return _GONE.search(error.message) is not None


def is_served(url: str, commit: str) -> bool:
    """Whether a repository gives a commit, by its id, to somebody who has nothing yet.

    Raises:
        ToolError: it cannot be reached.
    """
    with tempfile.TemporaryDirectory(prefix="ropewalk-probe-") as folder:
        git = init_bare(Path(folder) / "probe", object_format=format_of(commit))
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--depth=1")
        try:
            git.run("fetch", *options, "--filter=tree:0", "--", check_url(url), commit)
        except ProcessError as error:
            if _NOT_THERE.search(error.stderr):
                return False
            raise
        return git.run("cat-file", "-e", f"{commit}^{{commit}}", codes=(0, 1, 128)).code == 0


def is_contained(kept: Kept, commit: str, tips: Sequence[str]) -> bool:
    """Whether a commit is one of `tips`, whose histories are kept, or behind one of them."""
    if commit in tips:
        return True
    if kept.missing([commit]):
        return False
    listed = kept.git.lines("for-each-ref", f"--contains={commit}", "--format=%(objectname)", "refs/kept/")
    return not set(listed).isdisjoint(tips)


def kept_of(cache: Path, url: str, commit: str) -> Kept:
    """Return what is kept of a repository whose ids are like that of a commit."""
    return keep(cache, url, object_format=format_of(commit))


def format_of(commit: str) -> str:
    """Return the object format that an id is of."""
    return "sha256" if len(commit) == 64 else "sha1"
