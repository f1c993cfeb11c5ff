"""Questions to a repository elsewhere: which refs it has, and what is behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ropewalk.freezing.refs import look_up
from ropewalk.tools.git import OBJECT_ID, Git, check_url
from ropewalk.tools.objects import Kept, keep
from ropewalk.tools.served import format_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

AT_ONCE = 400
"""Commits that are asked for in one request; each stands on a command line."""


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
