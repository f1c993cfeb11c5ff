"""What a person decides about a bundle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.requirements import Requirement
    from packaging.utils import NormalizedName


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How to lay components into one wheel; all names are normalised.

    `name` is the bundle's name and its head component's. `external` are packages that are never inside. `extras`
    replace the head's own extras where they are given. `platform` replaces the platform of the tag. `commits`
    holds the full commit id that a component was built from.
    """

    name: NormalizedName
    external: frozenset[NormalizedName] = frozenset()
    extras: Mapping[NormalizedName, tuple[Requirement, ...]] | None = None
    identity: bool = False
    allow_direct_urls: bool = False
    platform: str | None = None
    commits: Mapping[NormalizedName, str] = field(default_factory=dict)
