"""Compatibility tags, and the tag of what only runs where several wheels run (PEP 425, 600, 656, 803)."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from packaging.tags import Tag, parse_tag

if TYPE_CHECKING:
    from collections.abc import Iterable

LEGACY_MANYLINUX = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
STABLE_ABIS = frozenset({"abi3", "abi3t"})
MAC_FAT = {
    "universal2": frozenset({"x86_64", "arm64"}),
    "universal": frozenset({"i386", "ppc", "ppc64", "x86_64"}),
    "intel": frozenset({"i386", "x86_64"}),
    "fat": frozenset({"i386", "ppc"}),
    "fat3": frozenset({"i386", "x86_64", "ppc"}),
    "fat64": frozenset({"x86_64", "ppc64"}),
}


@dataclass(frozen=True, order=True, slots=True)
class Platform:
    """A platform tag in its parts: `manylinux_2_28_x86_64` is ("manylinux", (2, 28), "x86_64")."""

    family: str
    version: tuple[int, ...] = ()
    machine: str = ""


def parse_platform(tag: str) -> Platform:
    """Return the parts of a platform tag; one that later systems do not fulfil as well is its own family."""
    if match := re.fullmatch(r"(manylinux1|manylinux2010|manylinux2014)_(\w+)", tag):
        return Platform("manylinux", LEGACY_MANYLINUX[match[1]], match[2])
    if match := re.fullmatch(r"(manylinux|musllinux|macosx|ios)_(\d+)_(\d+)_(\w+)", tag):
        return Platform(match[1], (int(match[2]), int(match[3])), match[4])
    if match := re.fullmatch(r"android_(\d+)_(\w+)", tag):
        return Platform("android", (int(match[1]),), match[2])
    if match := re.fullmatch(r"linux_(\w+)", tag):
        return Platform("linux", (), match[1])
    return Platform(tag)


def meet_platforms(first: str, second: str) -> str | None:
    """Return the platform on which both tags are fulfilled, None where there is none.

    `linux_x86_64` promises nothing but the libraries of one machine. It says less than any other Linux tag, so it
    is what remains, and the result is no meet in the strict sense: see `meet_all`.
    """
    if second in (first, "any"):
        return first
    if first == "any":
        return second
    left, right = parse_platform(first), parse_platform(second)
    if "linux" in (left.family, right.family):
        return _meet_bare_linux(left, right, first, second)
    if left.family != right.family or not left.machine:
        return None
    machine = _meet_machines(left, right)
    if machine is None:
        return None
    met = Platform(left.family, max(left.version, right.version), machine)
    if met == left != right:
        return first
    if met == right != left:
        return second
    return "_".join((met.family, *map(str, met.version), met.machine))


def _meet_bare_linux(left: Platform, right: Platform, first: str, second: str) -> str | None:
    # `linux_x86_64` promises nothing but this machine's libraries, so it is the narrower of the two.
    if left.machine != right.machine or {left.family, right.family} - {"linux", "manylinux", "musllinux"}:
        return None
    return first if left.family == "linux" else second


def _meet_machines(left: Platform, right: Platform) -> str | None:
    if left.machine == right.machine:
        return left.machine
    if left.family != "macosx":
        return None
    one, other = (MAC_FAT.get(side.machine, frozenset({side.machine})) for side in (left, right))
    both = one & other
    named = [name for name, machines in MAC_FAT.items() if machines == both]
    return next(iter(both)) if len(both) == 1 else (named[0] if named else None)


def python_version(interpreter: str) -> tuple[int, ...] | None:
    """Return (3, 11) for `cp311` or `py311`, (3,) for `py3`, None for what has no such form."""
    match = re.fullmatch(r"(?:cp|py)(\d)(\d*)", interpreter)
    if match is None:
        return None
    return (int(match[1]), int(match[2])) if match[2] else (int(match[1]),)


class _Python(NamedTuple):
    """An interpreter tag and an ABI tag in their parts."""

    implementation: str
    version: tuple[int, ...]
    abi: str

    @property
    def is_generic(self) -> bool:
        """Whether any implementation of this or a later minor version will do."""
        return self.implementation == "py" and self.abi == "none"

    @property
    def is_stable(self) -> bool:
        """Whether this or a later minor version of CPython will do."""
        return self.implementation == "cp" and self.abi in STABLE_ABIS

    @property
    def pair(self) -> tuple[str, str]:
        """The two tags."""
        return self.implementation + "".join(map(str, self.version)), self.abi


def _parse_python(pair: tuple[str, str]) -> _Python:
    match = re.fullmatch(r"([a-z_]+?)(\d)(\d*)", pair[0])
    if match is None:
        return _Python(pair[0], (), pair[1])
    return _Python(match[1], (int(match[2]), int(match[3])) if match[3] else (int(match[2]),), pair[1])


def meet_pythons(first: tuple[str, str], second: tuple[str, str]) -> tuple[str, str] | None:
    """Return the (interpreter, ABI) under which both pairs are fulfilled, None where there is none."""
    if first == second:
        return first
    left, right = _parse_python(first), _parse_python(second)
    if left.version[:1] != right.version[:1]:
        return None
    if right.is_generic or (right.is_stable and not left.is_generic):
        left, right = right, left
    if left.is_generic:
        met = _meet_generic(left, right)
    elif left.is_stable:
        met = _meet_stable(left, right)
    else:
        met = _meet_exact(left, right)
    return met.pair if met else None


def _meet_generic(floor: _Python, other: _Python) -> _Python | None:
    if floor.version <= other.version:
        return other
    return other._replace(version=floor.version) if other.is_generic or other.is_stable else None


def _meet_stable(floor: _Python, other: _Python) -> _Python | None:
    if other.is_stable:
        return max(floor, other) if floor.abi == other.abi else None
    if other.implementation != "cp" or other.version < floor.version:
        return None
    if other.abi == "none":
        # One version of CPython, with or without its lock, and of these two the one that has the stable ABI.
        letter = "t" if floor.abi == "abi3t" else "m" if other.version < (3, 8) else ""
        return other._replace(abi=other.pair[0] + letter)
    return other if other.abi.endswith("t") == (floor.abi == "abi3t") else None


def _meet_exact(left: _Python, right: _Python) -> _Python | None:
    if left.pair[0] != right.pair[0] or "none" not in (left.abi, right.abi):
        return None
    return right if left.abi == "none" else left


def meet_tags(first: Iterable[Tag], second: Iterable[Tag]) -> frozenset[Tag]:
    """Return the tags under which a wheel of `first` and one of `second` both install; empty where none."""
    met = set()
    for left, right in itertools.product(first, second):
        pair = meet_pythons((left.interpreter, left.abi), (right.interpreter, right.abi))
        platform = meet_platforms(left.platform, right.platform)
        if pair and platform:
            met.add(Tag(*pair, platform))
    return _widest(met)


def meet_all(tag_sets: Iterable[Iterable[Tag]]) -> frozenset[Tag]:
    """Return the tags under which wheels of all these tags install, in whatever order they come.

    Bare `linux` tags come last: a manylinux and a musllinux wheel do not fit together, whatever else there is.
    """
    in_order = sorted(
        (sorted(tags, key=tag_key) for tags in tag_sets),
        key=lambda tags: (any(tag.platform.startswith("linux_") for tag in tags), list(map(str, tags))),
    )
    return functools.reduce(meet_tags, in_order[1:], frozenset(in_order[0])) if in_order else frozenset()


def _widest(tags: set[Tag]) -> frozenset[Tag]:
    """Leave out tags that another one includes; two spellings of one system are both kept."""
    return frozenset(tag for tag in tags if not any(_includes(other, tag) for other in tags))


def _includes(wide: Tag, narrow: Tag) -> bool:
    """Whether `narrow` is fulfilled nowhere but where `wide` is, and not everywhere there."""
    wide_python, narrow_python = (wide.interpreter, wide.abi), (narrow.interpreter, narrow.abi)
    if meet_pythons(wide_python, narrow_python) != narrow_python:
        return False
    if "linux" in (parse_platform(wide.platform).family, parse_platform(narrow.platform).family):
        return wide.platform in ("any", narrow.platform) and wide != narrow
    met = meet_platforms(wide.platform, narrow.platform)
    if met is None or parse_platform(met) != parse_platform(narrow.platform):
        return False
    return (wide_python, parse_platform(wide.platform)) != (narrow_python, parse_platform(narrow.platform))


def tag_key(tag: Tag) -> tuple[str, str, Platform, str]:
    """Sort key of tags: interpreter, ABI, then platforms by family and version."""
    return tag.interpreter, tag.abi, parse_platform(tag.platform), tag.platform


def compressed(tags: Iterable[Tag]) -> str | None:
    """Return the compressed tag set of a file name, None where the tags are no product of three sets (PEP 425)."""
    tags = frozenset(tags)
    ordered = sorted(tags, key=tag_key)
    parts = [
        dict.fromkeys(tag.interpreter for tag in ordered),
        dict.fromkeys(tag.abi for tag in ordered),
        dict.fromkeys(tag.platform for tag in ordered),
    ]
    text = "-".join(".".join(part) for part in parts)
    return text if parse_tag(text) == tags else None
