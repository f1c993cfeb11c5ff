"""A component wheel on its way into a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.bundling.markers import FAULT_HINT, marker_fault
from ropewalk.errors import RopewalkError, UsageError
from ropewalk.finding import Collector
from ropewalk.tools.files import sha256_of
from ropewalk.tools.workers import threads
from ropewalk.wheels.wheel import Wheel, read_wheel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


def read_components(
    paths: Sequence[Path], commits: Mapping[NormalizedName, str], *, jobs: int | None = None
) -> list[Component]:
    """Read wheels, several at once.

    Raises:
        UsageError: some of them cannot be read, break a rule or have a marker that cannot be bundled; the findings
            name every one.
    """
    with threads(jobs) as executor:
        digests = [executor.submit(sha256_of, path) for path in paths]
        wheels: list[Wheel] = []
        faults: list[RopewalkError] = []
        for path in paths:
            try:
                wheels.append(_read(path))
            except UsageError as error:
                faults.append(error)
        if faults:
            raise _joined(faults)
        return [
            Component(wheel=wheel, sha256=digest.result(), commit=commits.get(wheel.name))
            for wheel, digest in zip(wheels, digests, strict=True)
        ]


def _read(path: Path) -> Wheel:
    wheel = read_wheel(path)
    found = Collector(path.name)
    for requirement in wheel.metadata.requires_dist:
        if fault := marker_fault(requirement.marker):
            found.error(
                "bundle/marker",
                f"the marker with which `{wheel.name}` requires `{requirement.name}` {fault}",
                member=wheel.name,
                hint=FAULT_HINT,
            )
    if found.findings:
        raise UsageError(
            f"`{path.name}` has markers that mean nothing in a wheel", hint=FAULT_HINT, findings=found.findings
        )
    return wheel


def _joined(faults: Sequence[RopewalkError]) -> UsageError:
    if len(faults) == 1:
        return UsageError(faults[0].message, hint=faults[0].hint, findings=faults[0].findings)
    return UsageError(
        "; ".join(fault.message for fault in faults),
        hint=next((fault.hint for fault in faults if fault.hint), ""),
        findings=[finding for fault in faults for finding in fault.findings],
    )
