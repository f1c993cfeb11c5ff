"""What a Python on a platform makes of markers, wheels and versions of Python (PEP 425, 508, 600, 656)."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms, parse_tag

from ropewalk.errors import UsageError
from ropewalk.wheels.tags import LEGACY_MANYLINUX, MAC_FAT, Platform, parse_platform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.indexes.values import File, Target

_PYTHON = re.compile(r"3\.(\d+)(\.\d+(?:(?:a|b|rc)\d+)?)?(t?)")
_WINDOWS = {"win_amd64": "AMD64", "win32": "x86", "win_arm64": "ARM64"}
_SYSTEMS = {"manylinux": "linux", "musllinux": "linux", "linux": "linux", "macosx": "macosx"}
_OLDEST_GLIBC = {"x86_64": 5, "i686": 5}
_ANY_GLIBC = 17
_LEGACY = {version: name for name, version in LEGACY_MANYLINUX.items()}
_STARRED = re.compile(r"([<>]=?|~=)(\s*\d+(?:\.\d+)*)\.\*")


def marker_environment(target: Target) -> dict[str, str]:
    """Return the eleven variables of PEP 508 for CPython on a platform.

    A version without its last part is the first of its kind: `3.12` is 3.12.0, as uv has it. The release and version of
    the operating system are empty: no platform tag tells them.

    Raises:
        UsageError: the target is none that is known.
    """
    minor, patch, _ = _python(target)
    system = _system(target)
    full = f"3.{minor}{patch or '.0'}"
    return {
        "implementation_name": "cpython",
        "implementation_version": full,
        "os_name": "nt" if system["sys_platform"] == "win32" else "posix",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_version": "",
        "python_full_version": full,
        "python_version": f"3.{minor}",
        **system,
    }


def _python(target: Target) -> tuple[int, str, str]:
    match = _PYTHON.fullmatch(target.python)
    if match is None:
        raise UsageError(f"`{target.python}` is not a version of Python", hint="write it like `3.12` or `3.12.4`")
    return int(match[1]), match[2] or "", match[3]


def _system(target: Target) -> dict[str, str]:
    if machine := _WINDOWS.get(target.platform):
        return {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": machine}
    platform = parse_platform(target.platform)
    kind = _SYSTEMS.get(platform.family)
    if kind == "linux":
        return {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": platform.machine}
    if kind == "macosx" and platform.machine not in MAC_FAT:
        return {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": platform.machine}
    raise UsageError(
        f"`{target.platform}` is not a platform of one machine that environments can be made for",
        hint="write it like `manylinux_2_34_x86_64`, `macosx_14_0_arm64` or `win_amd64`",
    )


@functools.lru_cache(maxsize=256)
def supported_tags(target: Target) -> tuple[Tag, ...]:
    """Return the tags of wheels that a target can use, the best first.

    Raises:
        UsageError: the target is none that is known.
    """
    minor, _, threads = _python(target)
    _system(target)
    version = (3, minor)
    abi = f"cp3{minor}{threads}{'m' if minor < 8 else ''}"
    platforms = list(_platforms(target.platform))
    tags = [
        *cpython_tags(version, [abi], platforms),
        *compatible_tags(version, f"cp3{minor}", platforms),
    ]
    return tuple(dict.fromkeys(tags))


@functools.lru_cache(maxsize=256)
def _supported(target: Target) -> frozenset[Tag]:
    return frozenset(supported_tags(target))


def _platforms(tag: str) -> Iterator[str]:
    """Yield the platform tags that hold where this one does, the narrowest first."""
    platform = parse_platform(tag)
    if platform.family == "macosx":
        yield from mac_platforms((platform.version[0], platform.version[1]), platform.machine)
    elif platform.family == "manylinux":
        yield from _glibc_platforms(platform)
    elif platform.family == "musllinux":
        yield from (f"musllinux_1_{minor}_{platform.machine}" for minor in range(platform.version[1], -1, -1))
        yield f"linux_{platform.machine}"
    else:
        yield tag


def _glibc_platforms(platform: Platform) -> Iterator[str]:
    oldest = _OLDEST_GLIBC.get(platform.machine, _ANY_GLIBC)
    for minor in range(platform.version[1], oldest - 1, -1):
        yield f"manylinux_2_{minor}_{platform.machine}"
        if legacy := _LEGACY.get((2, minor)):
            yield f"{legacy}_{platform.machine}"
    yield f"linux_{platform.machine}"


def serves(file: File, target: Target, *, builds: bool = True) -> bool:
    """Whether a file can be used by a target: its tags fit, and its Requires-Python holds.

    An sdist is for every platform, but of use only where it may be built. Raises:
        UsageError: the target is none that is known.
    """
    if not runs_on(file.requires_python, target):
        return False
    if not file.is_wheel:
        return builds
    return not _supported(target).isdisjoint(_tags(file.name[:-4].split("-", 2)[2]))


def runs_on(requires_python: str, target: Target) -> bool:
    """Whether a Requires-Python holds; one that cannot be read does not, but for `>=3.6.*`, which means `>=3.6`."""
    if not requires_python:
        return True
    specifier = _specifier(requires_python)
    minor, patch, _ = _python(target)
    return specifier is not None and specifier.contains(f"3.{minor}{patch or '.0'}", prereleases=True)


@functools.lru_cache(maxsize=1 << 12)
def _specifier(text: str) -> SpecifierSet | None:
    try:
        return SpecifierSet(_STARRED.sub(r"\1\2", text))
    except ValueError:
        return None


@functools.lru_cache(maxsize=1 << 12)
def _tags(text: str) -> frozenset[Tag]:
    """Return the tags of a wheel's name, given what follows its version: perhaps a build number, then the tags."""
    return parse_tag("-".join(text.split("-")[-3:]))
