"""Small worlds of packages, and the fewest that must differ in them, found without a resolver."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from ropewalk.freezing.layers.solution import Layer
from ropewalk.indexes.values import File, Metadata, Release, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TARGET = Target(python="3.11", platform="manylinux_2_34_x86_64")


@dataclass
class World:
    """A catalogue in memory: packages, their versions, and what each requires."""

    packages: dict[NormalizedName, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    yanked: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, name: str, version: str, *requires: str) -> None:
        self.packages.setdefault(canonicalize_name(name), {})[version] = requires

    def releases(self, name: NormalizedName) -> Sequence[Release]:
        versions = sorted(self.packages.get(name, {}), key=Version)
        return [Release(name=name, version=version, files=(self._file(name, version),)) for version in versions]

    def _file(self, name: str, version: str) -> File:
        shown = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        return File(name=shown, url=f"https://files.example/{shown}", yanked=self.yanked.get((name, version)))

    def metadata(self, name: NormalizedName, version: str, file: str = "") -> Metadata:
        assert not file or file.startswith(name.replace("-", "_"))
        return Metadata(requires=self.packages[name][version])


def read_world(lines: Iterable[str]) -> World:
    """Read lines `name==version | requirement | …`."""
    world = World()
    for line in lines:
        parts = [part.strip() for part in line.partition(" #")[0].split("|")]
        if parts[0] and not parts[0].startswith("#"):
            name, _, version = parts[0].partition("==")
            world.add(name, version, *filter(None, parts[1:]))
    return world


def layers_of(rows: Iterable[Mapping[str, object]]) -> list[Layer]:
    """Return environments as layers, with what they inherit."""
    requires: dict[str, tuple[str, ...]] = {}
    layers = []
    for row in rows:
        name, parent, own = str(row["name"]), str(row.get("parent", "")), row["requires"]
        assert isinstance(own, list)
        requires[name] = (*requires.get(parent, ()), *own)
        layers.append(Layer(name=name, extends=parent, requires=requires[name]))
    return layers


def random_world(seed: int) -> tuple[World, list[Layer]]:
    """Return a world of 10 to 40 packages and 3 to 5 environments, with conflicts planted between the outer ones."""
    dice = random.Random(seed)  # noqa: S311 - the same world for the same seed
    world = World()
    names = [f"p{number}" for number in range(dice.randint(10, 32))]
    for place, name in enumerate(names):
        for version in range(1, dice.randint(1, 4) + 1):
            needs = dice.sample(names[:place], min(place, dice.choice((0, 0, 1, 1, 2))))
            ranges = [_range(dice, len(world.packages[canonicalize_name(need)])) for need in needs]
            world.add(name, f"{version}.0", *map("".join, zip(needs, ranges, strict=True)))
    rows = _environments(dice, names)
    leaves = [row for row in rows if row["name"] not in {other.get("parent") for other in rows}]
    for number in range(dice.randint(0, 3)):
        _plant(dice, world, number, dice.sample(leaves, 2) if len(leaves) > 1 else [rows[0], leaves[0]])
    return world, layers_of(rows)


def _range(dice: random.Random, versions: int) -> str:
    version = dice.randint(1, versions)
    return dice.choice(("", "", f">={version}.0", f"<={version}.0", f"=={version}.0"))


def _environments(dice: random.Random, names: Sequence[str]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [{"name": "base", "requires": dice.sample(names, 2)}]
    for number in range(dice.randint(2, 4)):
        parent = dice.choice(rows[:2])["name"]
        rows.append({"name": f"env{number}", "parent": parent, "requires": dice.sample(names, dice.randint(1, 3))})
    return rows


def _plant(dice: random.Random, world: World, number: int, rows: Sequence[dict[str, object]]) -> None:
    """Make two environments want different versions: of one package, of two tied ones, or of one of two."""
    one, two = f"x{number}a", f"x{number}b"
    kind = dice.choice(("pinned", "tied", "either"))
    for version in ("1.0", "2.0"):
        world.add(one, version)
        world.add(two, version, *([f"{one}=={version}"] if kind == "tied" else []))
    first, second = (f"x{number}root{side}" for side in (1, 2))
    if kind == "either":
        world.add(f"x{number}gate", "1.0", f"{one}==1.0", f"{two}==2.0")
        world.add(f"x{number}gate", "2.0", f"{one}==2.0", f"{two}==1.0")
        world.add(first, "1.0", f"x{number}gate")
        world.add(second, "1.0", f"{one}==1.0", f"{two}==1.0")
    else:
        more = [two] if kind == "tied" else []
        world.add(first, "1.0", f"{one}==1.0", *more)
        world.add(second, "1.0", f"{one}==2.0", *more)
    for row, root in zip(rows, (first, second), strict=True):
        requires = row["requires"]
        assert isinstance(requires, list)
        requires.append(root)


@dataclass
class BruteForce:
    """All joint solutions there are, one after the other; `floors` has lowest versions by (environment, package)."""

    world: World
    layers: Sequence[Layer]
    floors: Mapping[tuple[int, str], Version]

    def fewest(self) -> int:
        """Return how many packages must differ at the least."""
        names = sorted(self.world.packages)
        must = {name for name in names if not self.feasible({name})}
        rest = [name for name in names if name not in must]
        for size in range(len(rest) + 1):
            for more in itertools.combinations(rest, size):
                if self.feasible(set(names) - must - set(more)):
                    return len(must) + size
        raise AssertionError("an environment has no solution by itself")

    def feasible(self, shared: set[NormalizedName]) -> bool:
        """Whether there are versions for all environments that are the same for the packages in `shared`."""
        wanted: dict[tuple[int, NormalizedName], set[str]] = {}
        queue = [(number, line) for number, layer in enumerate(self.layers) for line in layer.requires]
        return self._solve(wanted, {}, queue, shared)

    def _solve(
        self,
        wanted: dict[tuple[int, NormalizedName], set[str]],
        chosen: dict[tuple[int, NormalizedName], str],
        queue: Sequence[tuple[int, str]],
        shared: set[NormalizedName],
    ) -> bool:
        wanted = dict(wanted)
        for number, line in queue:
            requirement = Requirement(line)
            key = (number, canonicalize_name(requirement.name))
            here = wanted.get(key) or {version for version in self.world.packages[key[1]] if self._high(key, version)}
            wanted[key] = {version for version in here if version in requirement.specifier}
            if not wanted[key] or (key in chosen and chosen[key] not in wanted[key]):
                return False
        together: dict[NormalizedName, set[str]] = {}
        for (_, name), versions in wanted.items():
            if name in shared:
                together[name] = together.get(name, versions) & versions
                if not together[name]:
                    return False
        open_keys = [key for key in wanted if key not in chosen]
        if not open_keys:
            return True
        key = min(open_keys, key=lambda one: (len(self._left(one, wanted, together, shared)), one))
        for version in sorted(self._left(key, wanted, together, shared), key=Version, reverse=True):
            now = {key: version}
            if key[1] in shared:
                now = {other: version for other in wanted if other[1] == key[1]}
            fixed = {**wanted, **{one: {version} for one in now}}
            more = [(one[0], line) for one in now for line in self.world.packages[one[1]][version]]
            if self._solve(fixed, {**chosen, **now}, more, shared):
                return True
        return False

    @staticmethod
    def _left(
        key: tuple[int, NormalizedName],
        wanted: Mapping[tuple[int, NormalizedName], set[str]],
        together: Mapping[NormalizedName, set[str]],
        shared: set[NormalizedName],
    ) -> set[str]:
        return together[key[1]] if key[1] in shared else wanted[key]

    def _high(self, key: tuple[int, str], version: str) -> bool:
        return key not in self.floors or Version(version) >= self.floors[key]


def floors_of(constraints: Iterable[str]) -> Iterator[tuple[tuple[int, str], Version]]:
    """Read the floors back from constraints of a joint index."""
    for line in constraints:
        name, _, version = line.partition(">=")
        number, _, package = name.removeprefix("e").partition("-")
        yield (int(number), package), Version(version)
