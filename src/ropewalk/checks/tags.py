"""Compatibility tags: what they promise against what the native code inside needs (PEP 425, 600, 656)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from ropewalk.checks.check import and_more
from ropewalk.checks.native import NativeScanner
from ropewalk.wheels.elf import glibc_version
from ropewalk.wheels.tags import STABLE_ABIS, parse_platform, python_version, tag_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.checks.check import Subject
    from ropewalk.checks.native import Native
    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Member
    from ropewalk.wheels.elf import Elf
    from ropewalk.wheels.tags import Platform
    from ropewalk.wheels.wheel import Wheel

PROFILES = ((2, 5), (2, 12), (2, 17), (2, 24), (2, 26), (2, 27), (2, 28), (2, 31), (2, 34), (2, 35))
"""The glibc versions that manylinux tags are made for, up to where each version has one."""

LIBSTDCXX = {
    (2, 5): (3, 4, 8),
    (2, 12): (3, 4, 13),
    (2, 17): (3, 4, 19),
    (2, 24): (3, 4, 22),
    (2, 27): (3, 4, 24),
    (2, 31): (3, 4, 28),
    (2, 34): (3, 4, 29),
    (2, 35): (3, 4, 30),
    (2, 39): (3, 4, 33),
}
"""glibc → the newest GLIBCXX version of the libstdc++ that came with it, as the manylinux profiles have it."""

LINUX = frozenset({"android", "linux", "manylinux", "musllinux"})
ARMS = frozenset({"armv6l", "armv7l", "armv8l"})


@dataclass(frozen=True, slots=True)
class Tags:
    """What the tags say is what the contents are."""

    wheel: Wheel
    scanners: list[NativeScanner] = field(default_factory=list)

    def scanner(self, member: Member) -> NativeScanner:
        """Return what looks for native code in a member."""
        self.scanners.append(NativeScanner(member))
        return self.scanners[-1]

    def judge(self, found: Collector) -> None:
        """Judge the tags by themselves, then against the native code."""
        check_pythons(self.wheel, found)
        natives = [scanner.found for scanner in self.scanners if scanner.found]
        if not natives:
            return
        check_purity(self.wheel, natives, found)
        check_suffixes(self.wheel, natives, found)
        check_damage(natives, found)
        elves = {native.name: native.elf for native in natives if native.elf}
        platforms = [parse_platform(tag) for tag in sorted({tag.platform for tag in self.wheel.tags})]
        check_systems(platforms, elves, found)
        check_glibc(platforms, elves, found)
        check_musl(platforms, elves, found)


def start(subject: Subject) -> Tags | None:
    """Return the check of a wheel's tags, None where they could not be read."""
    return Tags(subject.wheel) if subject.wheel else None


def check_pythons(wheel: Wheel, found: Collector) -> None:
    """Some Python is allowed both by each cpXY tag and by Requires-Python."""
    stated = wheel.metadata.requires_python
    if stated.is_unsatisfiable():
        return
    for tag in sorted(wheel.tags, key=tag_key):
        version = python_version(tag.interpreter)
        if version is None or len(version) < 2 or not tag.interpreter.startswith("cp"):
            continue
        floor = f"{version[0]}.{version[1]}"
        runs_on = SpecifierSet(f">={floor}" if tag.abi in STABLE_ABIS else f"=={floor}.*")
        if (stated & runs_on).is_unsatisfiable():
            found.error(
                "tags/requires-python",
                f"`Requires-Python: {stated}` allows no Python that the tag `{tag}` is for",
                hint="correct one of the two",
            )


def check_purity(wheel: Wheel, natives: list[Native], found: Collector) -> None:
    """Native code is for a platform, and the platform is named."""
    first = natives[0]
    code = f"{and_more(first.name, len(natives))} hold{'s' if len(natives) == 1 else ''} native code ({first.format})"
    if any(tag.platform == "any" for tag in wheel.tags):
        found.error(
            "tags/native-in-any",
            f"{code}, yet the platform tag is `any`",
            hint="build a wheel for each platform",
        )
    elif wheel.root_is_purelib:
        found.warning(
            "tags/native-in-purelib",
            f"{code}, yet WHEEL says `Root-Is-Purelib: true`",
            member=f"{wheel.dist_info}/WHEEL",
            hint="write `Root-Is-Purelib: false`",
        )


def check_suffixes(wheel: Wheel, natives: list[Native], found: Collector) -> None:
    """The ABI in the names of extension modules is the one in the tags."""
    abis = {tag.abi for tag in wheel.tags} - {"none"}
    modules = [(native.name, native.suffix_abi) for native in natives if native.suffix_abi]
    if abis:
        strangers = [(name, abi) for name, abi in modules if abi not in abis and abi not in STABLE_ABIS]
        for name, abi in strangers[:1]:
            found.error(
                "tags/suffix",
                f"its name says `{abi}`, the tags say {_listed(abis)}"
                + (f"; {len(strangers)} modules in all" if len(strangers) > 1 else ""),
                member=name,
                hint="build it for the limited API, or tag the wheel for one Python"
                if abis & STABLE_ABIS
                else "build it with the Python that the tag names",
            )
    if modules and not abis & STABLE_ABIS and all(abi == "abi3" for _, abi in modules):
        found.note(
            "tags/hidden-abi3",
            f"{and_more(modules[0][0], len(modules))} can be loaded by later Pythons, yet the tags hide "
            f"{'it' if len(modules) == 1 else 'them'} from these ({_listed(abis or {'none'})})",
            hint="tag the wheel `abi3`",
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def check_damage(natives: list[Native], found: Collector) -> None:
    """Each ELF file can be read."""
    for native in natives:
        if native.format == "ELF" and native.elf is None:
            found.warning(
                "tags/damaged-elf",
                "begins like an ELF file, but no loader could read it",
                member=native.name,
                hint="build it again; what it needs could not be checked",
            )


def check_systems(platforms: list[Platform], elves: dict[str, Elf], found: Collector) -> None:
    """Native code is for the system and the machine that the tag names."""
    tagged = [platform for platform in platforms if platform.machine]
    if not tagged or not elves:
        return
    if not any(platform.family in LINUX for platform in tagged):
        found.error(
            "tags/system",
            f"{and_more(next(iter(elves)), len(elves))} {'is' if len(elves) == 1 else 'are'} for Linux, "
            f"the tag for `{tagged[0].family}`",
            hint="leave out the files of other systems, or tag the wheel for theirs",
        )
        return
    machines = {platform.machine for platform in tagged}
    alike = machines | ARMS if machines & ARMS else machines
    others = [(name, elf.machine) for name, elf in elves.items() if elf.machine not in alike]
    if others:
        name, machine = others[0]
        found.error(
            "tags/machine",
            f"is for `{machine}`, the tag for {_listed(machines)}"
            + (f"; {len(others)} files in all are for another machine" if len(others) > 1 else ""),
            member=name,
            hint="leave out the files of other machines, or tag the wheel for theirs",
        )


def check_glibc(platforms: list[Platform], elves: dict[str, Elf], found: Collector) -> None:
    """The libc that a manylinux tag promises has all that the native code needs, and is not much newer."""
    promised = min((platform for platform in platforms if platform.family == "manylinux"), default=None)
    needs = sorted(
        ((need, name) for name, elf in elves.items() for need in _system_needs(elf)),
        key=lambda item: (item[0], item[1]),
    )
    if promised is None or not needs:
        return
    tag_version = (promised.version[0], promised.version[1])
    too_new: dict[str, tuple[tuple[int, int], str]] = {name: need for need, name in needs if need[0] > tag_version}
    for name, (floor, version) in too_new.items():
        users = ", ".join(f"`{user}`" for user in elves[name].users.get(version, ()))
        found.error(
            "tags/glibc-floor",
            f"needs {version}{f' ({users})' if users else ''}, which systems with glibc {_dotted(tag_version)} lack; "
            f"the tag promises `{_tag(promised, tag_version)}`",
            member=name,
            hint=f"tag the wheel `{_tag(promised, _profile(floor))}`, or build it on an older system",
        )
    highest = max(need for need, _ in needs)[0]
    if not too_new and _profile(highest) < tag_version:
        found.note(
            "tags/glibc-slack",
            f"the native code needs no glibc above {_dotted(highest)}, the tag asks for {_dotted(tag_version)}",
            hint=f"`{_tag(promised, _profile(highest))}` would do, and lets it install on more systems",
        )


def _system_needs(elf: Elf) -> Iterable[tuple[tuple[int, int], str]]:
    """Yield the symbol versions that the system has to bring, each with the glibc that first comes with it."""
    for need in elf.needs:
        if floor := glibc_version(need.version):
            yield floor, need.version
        elif need.library == "libstdc++.so.6" and need.version.startswith("GLIBCXX_"):
            yield _libstdcxx_floor(need.version), need.version


def _libstdcxx_floor(version: str) -> tuple[int, int]:
    """Return the first glibc that came with a libstdc++ of a version."""
    number = tuple(int(part) for part in version.removeprefix("GLIBCXX_").split(".") if part.isdecimal())
    return next((glibc for glibc, newest in LIBSTDCXX.items() if number <= newest), (2, 41))


def _profile(floor: tuple[int, int]) -> tuple[int, int]:
    """Return the lowest manylinux version that promises a glibc."""
    return next((profile for profile in PROFILES if profile >= floor), floor)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _tag(platform: Platform, version: tuple[int, int]) -> str:
    return f"manylinux_{version[0]}_{version[1]}_{platform.machine}"


def check_musl(platforms: list[Platform], elves: dict[str, Elf], found: Collector) -> None:
    """A musllinux tag means musl alone, a manylinux tag glibc alone."""
    families = {platform.family for platform in platforms}
    for name, elf in elves.items():
        if "musllinux" in families and (reason := _glibc_reason(elf)):
            found.error(
                "tags/glibc-in-musllinux",
                f"needs {reason}, which only glibc has; the tag promises musl",
                member=name,
                hint="build it in a musllinux image",
            )
        musl = [library for library in elf.needed if library.startswith("libc.musl-")]
        if "manylinux" in families and musl:
            found.error(
                "tags/musl-in-manylinux",
                f"needs `{musl[0]}`, which is musl; the tag promises glibc",
                member=name,
                hint="build it in a manylinux image",
            )


def _glibc_reason(elf: Elf) -> str | None:
    if "libc.so.6" in elf.needed:
        return "`libc.so.6`"
    versions = [need.version for need in elf.needs if need.version.startswith("GLIBC_")]
    named = versions or list(elf.glibc_only)
    return and_more(named[0], len(named)) if named else None
