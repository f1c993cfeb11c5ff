"""What a target, a Python on a platform, says to markers and to the tags of wheels.

Markers follow the dependency specifiers specification, tags the one of platform compatibility tags (PEP 425, 600, 656).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms

from ropewalk.errors import UsageError
from ropewalk.wheels.tags import LEGACY_MANYLINUX, parse_platform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.indexes.values import File, Target
    from ropewalk.wheels.tags import Platform

_WINDOWS = {"win32": "x86", "win_amd64": "AMD64", "win_arm64": "ARM64"}
_LATEST_PATCH = "999"
"""Stands for the latest patch release of a minor version's line."""


def marker_environment(target: Target) -> dict[str, str]:
    """Return what all variables of markers are on a target, as CPython has them.

    Raises:
        UsageError: the platform is none that is known.
    """
    system, machine = _system(target.platform)
    minor = ".".join(target.python.removesuffix("t").split(".")[:2])
    full = target.python.removesuffix("t")
    return {
        "implementation_name": "cpython",
        "implementation_version": full if full.count(".") > 1 else f"{full}.0",
        "os_name": "nt" if system == "Windows" else "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": system,
        "platform_version": "",
        "python_full_version": full if full.count(".") > 1 else f"{full}.0",
        "python_version": minor,
        "sys_platform": {"Windows": "win32", "Darwin": "darwin", "Linux": "linux"}[system],
    }


def _system(platform: str) -> tuple[str, str]:
    """Return a platform's `platform_system` and `platform_machine`."""
    if platform in _WINDOWS:
        return "Windows", _WINDOWS[platform]
    parts = parse_platform(platform)
    if parts.family in ("manylinux", "musllinux", "linux"):
        return "Linux", parts.machine
    if parts.family == "macosx":
        return "Darwin", parts.machine
    raise UsageError(
        f"`{platform}` is not a platform that environments can be resolved for",
        hint="name one like `manylinux_2_34_x86_64`, `musllinux_1_2_aarch64`, `macosx_14_0_arm64` or `win_amd64`",
    )


@lru_cache
def supported_tags(target: Target) -> frozenset[Tag]:
    """Return the tags of all wheels that can be installed on a target."""
    minor = target.python.removesuffix("t").split(".")
    version = [int(part) for part in minor[:2]]
    abis = [f"cp{version[0]}{version[1]}{'t' if target.python.endswith('t') else ''}"]
    platforms = list(_platforms(target.platform))
    own = cpython_tags(version, abis=abis, platforms=platforms)
    return frozenset([*own, *compatible_tags(version, interpreter=f"cp{version[0]}{version[1]}", platforms=platforms)])


def _platforms(platform: str) -> Iterator[str]:
    """Yield the platform tags that a platform accepts, its own first."""
    parts = parse_platform(platform)
    if parts.family == "macosx":
        yield from mac_platforms((parts.version[0], parts.version[1]), parts.machine)
    elif parts.family in ("manylinux", "musllinux"):
        yield from _linux(parts)
    else:
        yield platform


def _linux(platform: Platform) -> Iterator[str]:
    major, minor = platform.version
    old = {version: name for name, version in LEGACY_MANYLINUX.items() if platform.family == "manylinux"}
    for lower in range(minor, -1, -1):
        yield f"{platform.family}_{major}_{lower}_{platform.machine}"
        if (major, lower) in old:
            yield f"{old[major, lower]}_{platform.machine}"
    yield f"linux_{platform.machine}"


def serves(file: File, target: Target) -> bool:
    """Whether a wheel can be installed on a target, or an sdist could be built for its Python."""
    return accepts_python(file.requires_python, target) and (not file.is_wheel or _fits(file.name, target))


def _fits(name: str, target: Target) -> bool:
    """Compare the tags as text: an index lists thousands of wheels, and `parse_tag` takes its time."""
    parts = name.removesuffix(".whl").split("-")
    if len(parts) not in (5, 6):
        return False
    supported = _supported_texts(target)
    pythons, abis, platforms = (part.split(".") for part in parts[-3:])
    return any(f"{p}-{a}-{on}" in supported for p in pythons for a in abis for on in platforms)


@lru_cache
def _supported_texts(target: Target) -> frozenset[str]:
    return frozenset(map(str, supported_tags(target)))


@lru_cache(maxsize=1 << 12)
def accepts_python(requires: str, target: Target) -> bool:
    """Whether a Requires-Python holds for a target's Python; one that cannot be read holds, as it does for installers.

    A target that names a minor version alone stands for the latest of its line.
    """
    version = target.python.removesuffix("t")
    version = version if version.count(".") > 1 else f"{version}.{_LATEST_PATCH}"
    try:
        return SpecifierSet(requires).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True
