"""The frozen state of an ecosystem, as values.

Every commit, tree and blob is named by its full id, so that a state says the same thing for ever; refs and URLs tell
only where it was found.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1


class Form(StrEnum):
    """How a patch was taken down: commit by commit, or as one change where a merge had content of its own."""

    SERIES = "series"
    SQUASHED = "squashed"


class Standing(StrEnum):
    """What a patch is to its source: applied to it, or there already, upstream."""

    APPLIED = "applied"
    MERGED = "merged"


@dataclass(frozen=True, kw_only=True, slots=True)
class Submodule:
    """A submodule at any depth: `path` is seen from the source, `url` absolute, `commit` what the tree records."""

    path: str
    url: str
    commit: str
    tree: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LfsFile:
    """A file whose content is kept by git LFS: SHA-256 and size in bytes."""

    path: str
    oid: str
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One commit of a patch: `sha256` names the patch file, `patch_id` is what `git patch-id --stable` says of it.

    An empty commit has no `patch_id`.
    """

    sha256: str
    patch_id: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """A moving ref as the change that it was: from `base`, where it left upstream, to `tip`.

    `tree` is the source's tree once this patch and those before it are applied. A patch file of somebody's has no
    `url` and no `ref`.
    """

    origin: str
    url: str = ""
    ref: str = ""
    base: str
    tip: str
    form: Form
    standing: Standing
    steps: tuple[Step, ...] = ()
    tree: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A repository at one commit.

    `mirrors` are other places to fetch it from; `fetched_from` is empty where that was `url`. `time` is the commit's,
    in RFC 3339 and UTC; `describe` what `git describe --tags --long` says, empty without a tag. `request` is the digest
    of what the manifest asked for. `patched_commit` and `patched_tree` are what comes out once every patch is applied;
    without patches they are `commit` and `tree`. With `lfs_wanted` a check-out has the contents of `lfs` and not their
    pointers. `degraded` says why a source stayed where it was.
    """

    name: str
    url: str
    mirrors: tuple[str, ...] = ()
    fetched_from: str = ""
    ref: str
    commit: str
    tree: str
    time: str
    describe: str = ""
    request: str
    submodules: tuple[Submodule, ...] = ()
    lfs: tuple[LfsFile, ...] = ()
    lfs_wanted: bool = False
    patches: tuple[Patch, ...] = ()
    patched_commit: str
    patched_tree: str
    degraded: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """The URLs to fetch it from, the one that had it first."""
        return tuple(dict.fromkeys(filter(None, (self.fetched_from, self.url, *self.mirrors))))

    @property
    def steps(self) -> tuple[str, ...]:
        """The SHA-256 of every patch file, in the order in which they are applied."""
        return tuple(step.sha256 for patch in self.patches for step in patch.steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """All sources of a manifest at one time.

    `manifest` is the SHA-256 of the manifest's text, `time` when the state was frozen (RFC 3339, UTC), `tools` the
    versions of those that decided. `patches` holds the patch files by their SHA-256.
    """

    manifest: str
    time: str
    tools: Mapping[str, str]
    sources: tuple[Source, ...]
    patches: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def degraded(self) -> bool:
        """Whether a source could not be brought up to date."""
        return any(source.degraded for source in self.sources)


def state_id(sources_text: str) -> str:
    """Return the id of a state: the SHA-256 of its sources' canonical text, in which no time of a run stands."""
    return hashlib.sha256(sources_text.encode()).hexdigest()
