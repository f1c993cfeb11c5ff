"""uv as the oracle of the search: every answer is one universal resolution on one loopback index."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from ropewalk.freezing.layers.search import Refuted
from ropewalk.freezing.layers.solution import Layer, Solution, solution_of
from ropewalk.indexes.joint import ALONE, JOINT, JointIndex, own_name, requirement_of, shared_in, shared_name, view_of
from ropewalk.indexes.targets import marker_environment
from ropewalk.tools.loopback import serving
from ropewalk.tools.resolver import Question, UnsolvedError, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.indexes.values import Catalogue, Target
    from ropewalk.tools.loopback import Loopback

_IN_MARKERS = (
    "implementation_name",
    "platform_python_implementation",
    "python_version",
    "sys_platform",
    "platform_machine",
)


@dataclass(kw_only=True)
class UvOracle:
    """Resolves layers jointly: those whose numbers are in `active`, all by default.

    `constraints` and `preferences` are in the names of the joint index.
    """

    layers: tuple[Layer, ...]
    targets: tuple[Target, ...]
    index: JointIndex
    server: Loopback
    folder: Path
    constraints: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    active: tuple[int, ...] = ()
    calls: int = 0

    def __post_init__(self) -> None:
        self.active = self.active or tuple(range(len(self.layers)))

    def alone(self, number: int | None = None, constraints: Sequence[str] = ()) -> Solution | Refuted:
        """Resolve every layer by itself, in one call, or one layer."""
        numbers = range(len(self.layers)) if number is None else (number,)
        return self._ask(ALONE, numbers, constraints=constraints)

    def share_all_but(self, apart: frozenset[NormalizedName]) -> Solution | Refuted:
        """Return a solution in which all packages are shared except for `apart`."""
        return self._ask(JOINT, self.active, apart=apart, constraints=self.constraints)

    def share_only(self, shared: frozenset[NormalizedName]) -> Refuted | None:
        """Return why there is no solution in which these packages are shared, `None` if there is one."""
        answer = self._ask(view_of(shared), self.active, constraints=self.constraints)
        return answer if isinstance(answer, Refuted) else None

    def universe(self) -> frozenset[NormalizedName]:
        """Return the packages that more than one layer has been seen to ask for."""
        return self.index.asked_in_several()

    def _ask(
        self, view: str, numbers: Iterable[int], *, apart: Iterable[str] = (), constraints: Sequence[str] = ()
    ) -> Solution | Refuted:
        self.calls += 1
        question = Question(
            index=f"{self.server.url}/{view}",
            requires=tuple(requirement_of(number, one) for number in numbers for one in self.layers[number].requires),
            constraints=tuple(constraints),
            excludes=tuple(shared_name(name) for name in sorted(apart)),
            preferences=self.preferences,
            environments=tuple(dict.fromkeys(marker_of(target) for target in self.targets)),
            early=view != ALONE,
            python=min((target.python for target in self.targets), key=Version),
        )
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            try:
                found = resolve(question, folder=Path(folder), cache=self.folder / "uv")
            except UnsolvedError as error:
                return Refuted(names=shared_in(error.report), report=error.report)
            finally:
                if self.server.fault is not None:
                    raise self.server.fault
        return solution_of(found, len(self.layers))


@contextlib.contextmanager
def oracle(catalogue: Catalogue, layers: Sequence[Layer], targets: Sequence[Target]) -> Iterator[UvOracle]:
    """Yield an oracle; its index and uv's cache live as long as the block."""
    index = JointIndex(catalogue=catalogue, targets=tuple(targets))
    folder = Path(tempfile.mkdtemp(prefix="ropewalk-resolve-"))
    try:
        with serving(index.answer) as server:
            yield UvOracle(layers=tuple(layers), targets=tuple(targets), index=index, server=server, folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def marker_of(target: Target) -> str:
    """Return the marker that holds on a target's Python and platform and on no other target's (PEP 508)."""
    environment = marker_environment(target)
    return " and ".join(f"{name} == '{environment[name]}'" for name in _IN_MARKERS)


def floors(layers: Sequence[Layer], alone: Solution) -> tuple[str, ...]:
    """Return constraints that keep direct requirements from going back further than one layer takes them by itself.

    Without them everything could be shared by taking an ancient release of what the environments are there for.
    """
    asked = [{canonicalize_name(Requirement(line).name) for line in layer.requires} for layer in layers]
    lowest: dict[NormalizedName, Version] = {}
    for number, names in enumerate(asked):
        for name in names:
            for taken in map(Version, alone.at(number, name)):
                lowest[name] = min(taken, lowest.get(name, taken))
    return tuple(
        f"{own_name(number, name)}>={lowest[name].public}"
        for number, names in enumerate(asked)
        for name in sorted(names & set(lowest))
    )


def preferences_of(pins: Mapping[int, Iterable[tuple[str, str, str]]]) -> tuple[str, ...]:
    """Return pins (name, version, marker) of layers by number as the joint index has them."""
    return tuple(
        f"{own_name(number, name)}=={version}" + (f" ; {marker}" if marker else "")
        for number, rows in pins.items()
        for name, version, marker in rows
    )
