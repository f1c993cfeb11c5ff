"""The frozen environments, as values: what each holds, and where those of one family differ and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.utils import NormalizedName

    from ropewalk.indexes.values import File, Vcs


class Policy(StrEnum):
    """Who gives way where environments of a family cannot agree.

    `minimal`: whoever has to, so that the fewest packages differ. `base-wins`: never an environment for those that
    extend it. `strict`: nobody; that they cannot agree is an error.
    """

    MINIMAL = "minimal"
    BASE_WINS = "base-wins"
    STRICT = "strict"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """A package of an environment at one version.

    `marker` says on which targets it is installed (PEP 508), empty for all; a package may have a pin for some targets
    and another for others. `files` are those that serve one of the targets, in the order of their names; one that is
    built from a source has `vcs` and the `source`'s name instead. `asked_by` are the names of those that require it,
    empty text for the environment itself.
    """

    name: NormalizedName
    version: str
    marker: str = ""
    files: tuple[File, ...] = ()
    vcs: Vcs | None = None
    source: str = ""
    asked_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedEnvironment:
    """An environment and everything that is installed in it.

    `requires` holds all of its requirements, those of the environments that it extends first; `pythons` as `3.12`,
    `platforms` as in wheels' tags. `pins` are in the order of their names, then versions.
    """

    name: str
    extends: str = ""
    requires: tuple[str, ...]
    pythons: tuple[str, ...]
    platforms: tuple[str, ...]
    pins: tuple[Pin, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Core:
    """Packages of which at least one has to differ, and what the resolver said when all of them were to be the same."""

    packages: tuple[NormalizedName, ...]
    report: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Divergence:
    """A package whose version is not the same in all environments of a family.

    `versions` are those of each environment that has it, several joined by ` | ` where targets differ. `reasons` say in
    words which requirements force it, and `ends_when` what would end it.
    """

    package: NormalizedName
    versions: Mapping[str, str]
    reasons: tuple[str, ...] = ()
    ends_when: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """Environments that share all they can: one that extends none, and all that extend it, however far.

    `request` is the digest of all that it was resolved from. `cores` prove that no fewer than `bound` packages can
    differ; where `bound` is less than the number of `divergences`, a limit ended the search.
    """

    root: str
    policy: Policy
    request: str = ""
    environments: tuple[LockedEnvironment, ...]
    divergences: tuple[Divergence, ...] = ()
    cores: tuple[Core, ...] = ()
    bound: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether fewer divergences are impossible."""
        return self.bound == len(self.divergences)
