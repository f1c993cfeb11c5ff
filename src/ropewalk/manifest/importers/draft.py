"""A manifest in the making, and its text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.manifest.refs import ref_fault
from ropewalk.tools.git import check_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ropewalk.finding import Collector

_SCP_LIKE = re.compile(r"(?:([\w.-]+)@)?([\w.-]+):(?!//)(.+)")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]+|[-_]{2,}")
_LONGEST_NAME = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftPatch:
    """A patch: `from_` and `why` as the manifest has them, and a line of comment."""

    from_: str
    why: str
    comment: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftSource:
    """A source; `comments` stand before it."""

    name: str
    git: str
    track: str
    mirrors: tuple[str, ...] = ()
    submodules: bool | tuple[str, ...] | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    patches: tuple[DraftPatch, ...] = ()
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A manifest: its sources, and what environments require."""

    project: str
    sources: tuple[DraftSource, ...] = ()
    requires: tuple[str, ...] = ()


def address(url: object, place: str, found: Collector) -> str:
    """Return a repository's URL as a manifest can have it; empty, with a finding, where it cannot."""
    if not isinstance(url, str) or not url:
        found.warning("init/left-out", "has no URL, and is left out", member=place)
        return ""
    if "://" not in url and not url.startswith(("/", "-")) and (match := _SCP_LIKE.fullmatch(url)):
        user = f"{match[1]}@" if match[1] else ""
        url = f"ssh://{user}{match[2]}/{match[3].lstrip('/')}"
    try:
        return check_url(url)
    except UsageError as error:
        found.warning("init/left-out", f"is left out: {error.message}", member=place, hint=error.hint)
        return ""


def source_name(text: object, taken: set[str], place: str, found: Collector) -> str:
    """Return a name that no other source has, made of what a manifest allows in one."""
    plain = re.sub(r"[-_]{2,}", "-", _NOT_IN_NAME.sub("-", str(text)))[:_LONGEST_NAME].strip("-_") or "source"
    name = plain
    number = 2
    while name.lower() in taken:
        name = f"{plain}-{number}"
        number += 1
    taken.add(name.lower())
    if name != text:
        found.note("init/renamed", f"is called `{name}` here", member=place)
    return name


def accepted(draft: Draft, found: Collector) -> Draft:
    """Return the draft without what a manifest refuses: refs that cannot be refs."""
    sources = []
    for source in draft.sources:
        if reason := ref_fault(source.track):
            found.warning(
                "init/left-out", f"tracks `{source.track}`, which {reason}; it is left out", member=source.name
            )
            continue
        patches = [patch for patch in source.patches if not _refused(source, patch, found)]
        sources.append(replace(source, patches=tuple(patches)))
    return replace(draft, sources=tuple(sources))


def _refused(source: DraftSource, patch: DraftPatch, found: Collector) -> bool:
    mirrored = patch.from_.startswith("mirror:")
    reason = ref_fault(patch.from_.removeprefix("mirror:"))
    if not reason and mirrored and not source.mirrors:
        reason = "is of a mirror, and there is none"
    if reason:
        member = f"{source.name}.patches.{patch.from_}"
        found.warning("init/left-out", f"is left out: it {reason}", member=member)
    return bool(reason)


def render_draft(draft: Draft) -> str:
    """Return the text of `ropewalk.toml`."""
    return "\n".join(_lines(draft)) + "\n"


def _lines(draft: Draft) -> Iterator[str]:
    yield "[project]"
    yield f"name = {_quoted(draft.project)}"
    for source in draft.sources:
        yield ""
        yield from (f"# {plain(comment)}" for comment in source.comments)
        yield f"[sources.{source.name}]"
        yield f"git = {_quoted(source.git)}"
        yield f"track = {_quoted(source.track)}"
        if source.mirrors:
            yield f"mirrors = [{', '.join(map(_quoted, source.mirrors))}]"
        if isinstance(source.submodules, bool):
            yield f"submodules = {str(source.submodules).lower()}"
        elif source.submodules is not None:
            yield f"submodules = [{', '.join(map(_quoted, source.submodules))}]"
        if source.packages:
            rows = ", ".join(f"{_quoted(name)} = {_quoted(path)}" for name, path in source.packages.items())
            yield f"packages = {{ {rows} }}"
        for patch in source.patches:
            yield f"[[sources.{source.name}.patches]]"
            if patch.comment:
                yield f"# {plain(patch.comment)}"
            yield f"from = {_quoted(patch.from_)}"
            yield f"why = {_quoted(plain(patch.why))}"
    if draft.requires:
        yield ""
        yield "[environments.main]"
        yield "requires = ["
        yield from (f"    {_quoted(requirement)}," for requirement in draft.requires)
        yield "]"


def plain(text: str) -> str:
    """Return a text on one line, with nothing in it that cannot be seen."""
    return "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))


def _quoted(text: str) -> str:
    # Of what JSON leaves as it is, TOML wants only this one written out.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
