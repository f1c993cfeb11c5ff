"""A component wheel on its way into a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ropewalk.wheels.wheel import Wheel, read_wheel

from ropewalk.tools.files import sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.utils import NormalizedName


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """A wheel with the SHA-256 of its file (hex) and, where it is known, the commit it was built from."""

    wheel: Wheel
    sha256: str
    commit: str | None = None

    @property
    def name(self) -> NormalizedName:
        """The component's normalised name."""
        return self.wheel.name
