"""Refs of remote repositories: looked up, and resolved to commits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError, UsageError
from ropewalk.tools.git import OBJECT_ID, Git, check_url
from ropewalk.tools.git_protocol import list_refs, speaks_http

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEX = re.compile(r"[0-9a-fA-F]{7,39}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Advertised:
    """The refs of a repository that were asked for, by full name; `peeled` has the commits behind annotated tags."""

    url: str
    objects: Mapping[str, str]
    peeled: Mapping[str, str]

    def commit(self, ref: str) -> str:
        """Return the object that a ref leads to: for an annotated tag not the tag, but what it is on."""
        return self.peeled.get(ref, self.objects[ref])


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A ref at one moment: its full name and the commit; `url` is where it was found."""

    url: str
    ref: str
    commit: str


def candidates(name: str) -> tuple[str, ...]:
    """Return the full names that a name can stand for."""
    if name == "HEAD" or name.startswith("refs/"):
        return (name,)
    return (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}")


def look_up(url: str, names: Iterable[str]) -> Advertised:
    """Ask a repository for the refs that `names` can stand for.

    Raises:
        UsageError: the URL may not be fetched from.
        ToolError: the repository cannot be reached.
    """
    check_url(url)
    wanted = sorted({ref for name in names for ref in candidates(name)})
    if speaks_http(url):
        try:
            return _advertised(url, list_refs(url, wanted), wanted)
        except (ToolError, ValueError):
            pass  # an older server, a redirection, or one that wants credentials: git knows what to do
    peeled = [f"{ref}^{{}}" for ref in wanted if ref.startswith("refs/tags/")]
    lines = Git().lines("ls-remote", "--quiet", "--", url, *wanted, *peeled)
    return _advertised(url, (line.split("\t", 1)[::-1] for line in lines), wanted)


def _advertised(url: str, rows: Iterable[Iterable[str]], wanted: Iterable[str]) -> Advertised:
    objects: dict[str, str] = {}
    peeled: dict[str, str] = {}
    known = set(wanted)
    for name, object_id in rows:
        ref, mark, _ = name.partition("^{}")
        if ref in known and OBJECT_ID.fullmatch(object_id):
            (peeled if mark else objects)[ref] = object_id
    return Advertised(url=url, objects=objects, peeled=peeled)


def resolve(advertised: Advertised, name: str) -> Resolved:
    """Return the commit that a name stands for.

    Raises:
        UsageError: no ref has the name, or several have; a full commit id needs no look-up and is not expected here.
    """
    found = [ref for ref in candidates(name) if ref in advertised.objects]
    if len(found) > 1 or (found and _HEX.fullmatch(name)):
        listed = " or ".join(f"`{ref}`" for ref in found)
        why = "stands for more than one ref" if len(found) > 1 else "could be a commit id as well"
        raise UsageError(f"`{name}` of `{advertised.url}` {why}", hint=f"write {listed}")
    if not found:
        raise UsageError(f"`{advertised.url}` has no ref `{name}`", hint=_hint(advertised.url, name))
    return Resolved(url=advertised.url, ref=found[0], commit=advertised.commit(found[0]))


def _hint(url: str, name: str) -> str:
    """Say what there is instead; a default branch that was renamed is the most common reason."""
    if _HEX.fullmatch(name):
        return "if it is a commit, write its full id of 40 or 64 digits"
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    try:
        lines = Git().lines("ls-remote", "--quiet", "--symref", "--", url, "HEAD", "refs/heads/*")
    except ToolError:
        return "name a branch or tag that is there"
    default = next((line.split()[1] for line in lines if line.startswith("ref: ")), "")
    refs = {line.split("\t")[1] for line in lines if "\trefs/heads/" in line}
    near = get_close_matches(name, [ref.removeprefix("refs/heads/") for ref in refs], n=2)
    known = [*near, default.removeprefix("refs/heads/")]
    return "did you mean " + " or ".join(f"`{one}`" for one in dict.fromkeys(known) if one) + "?"
