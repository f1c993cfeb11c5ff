"""Check a wheel: every member is inflated once, on as many threads as there are, and every fault is named."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ropewalk.checks import CHECKS
from ropewalk.checks.check import Subject
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Collector, Finding, Level, has_errors
from ropewalk.tools.files import sha256_of
from ropewalk.tools.workers import threads
from ropewalk.wheels.archive import read_archive
from ropewalk.wheels.content import MemberFault, pieces, read_whole
from ropewalk.wheels.record import parse_record
from ropewalk.wheels.wheel import inspect_wheel

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from concurrent.futures import Executor

    from ropewalk.checks.check import Check, CheckModule, Scanner
    from ropewalk.wheels.archive import Archive, Member
    from ropewalk.wheels.record import Row
    from ropewalk.wheels.wheel import Wheel

READABLE_ALL_THE_SAME = frozenset({
    "archive/absolute-path",
    "archive/colliding-names",
    "archive/comment",
    "archive/duplicate-member",
    "archive/file-and-folder",
    "archive/flags",
    "archive/folder-with-data",
    "archive/name-encoding",
    "archive/not-regular",
    "archive/symlink",
    "archive/trailing-data",
    "archive/two-names",
    "archive/unsafe-path",
})  # fmt: skip
"""Faults that leave no doubt where each member's data are; its content can be checked too."""

CHECK_OF_ROOM = {"entry-points": "metadata"}
"""Rules of the strict reader that belong to a check of another name."""

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What was found in a wheel.

    `file` is its file name, `sha256` of its bytes in lower-case hex. `name` (normalised) and `version` are empty
    where they are not known. `checks` are those that ran. The findings are sorted: errors first, then by rule and
    member. `passed` says that none of them is an error.
    """

    file: str
    sha256: str
    name: str = ""
    version: str = ""
    checks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    passed: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", tuple(sorted(set(self.findings), key=_place)))
        object.__setattr__(self, "passed", not has_errors(self.findings))


def _place(finding: Finding) -> tuple[int, str, str, str, str]:
    return _ORDER[finding.level], finding.rule, finding.member, finding.message, finding.hint


def check(path: Path, *, jobs: int | None = None, only: Collection[str] = ()) -> Report:
    """Check a wheel on `jobs` threads, one a processor by default; `only` names the checks to run, none means all.

    Raises:
        UsageError: the file cannot be read, or a check has another name.
        IntegrityError: the file changed while it was read.
    """
    names = _chosen(only)
    wheel, reported = inspect_wheel(path)
    with threads(jobs) as pool:
        digest = pool.submit(_sha256_of, path)
        subject = _subject(path, wheel, reported)
        checks = _started(names, subject)
        faults = _read_members(subject.archive, list(checks.values()), pool) if subject else []
        sha256 = digest.result()
    if subject:
        subject.archive.open().close()  # refuses a file that was replaced after it was hashed
    found = Collector(path.name)
    for one in checks.values():
        one.judge(found)
    return Report(
        file=path.name,
        sha256=sha256,
        name=wheel.name if wheel else "",
        version=str(wheel.version) if wheel else "",
        checks=tuple(checks),
        findings=(*_asked_for(reported, names, wheel), *faults, *found.findings),
    )


def _sha256_of(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}", hint="name a wheel file (`.whl`)") from error


def _chosen(only: Collection[str]) -> list[str]:
    for name in only:
        if name not in CHECKS:
            nearest = difflib.get_close_matches(name, CHECKS, n=1, cutoff=0)
            raise UsageError(f"there is no check `{name}`", hint=f"did you mean `{nearest[0]}`? There are {_listed()}")
    return [name for name in CHECKS if name in only or not only]


def _listed() -> str:
    return ", ".join(f"`{name}`" for name in CHECKS)


def _asked_for(reported: list[Finding], names: list[str], wheel: Wheel | None) -> list[Finding]:
    """Return those of the strict reader's findings that belong to one of the checks, or that keep one from running."""
    if wheel is None:
        return reported
    rooms = [finding.rule.partition("/")[0] for finding in reported]
    owners = [CHECK_OF_ROOM.get(room, room) for room in rooms]
    return [finding for finding, owner in zip(reported, owners, strict=True) if owner in names or owner not in CHECKS]


def _subject(path: Path, wheel: Wheel | None, reported: list[Finding]) -> Subject | None:
    """Return what can be checked of a wheel, None where it is not sure where the members' data are."""
    home = _home()
    if wheel is not None:
        return Subject(archive=wheel.archive, wheel=wheel, record=wheel.record, home=home)
    doubts = {finding.rule for finding in reported if finding.rule.startswith("archive/")}
    # The strict reader has told of these two by their absence; they say nothing about the archive's structure.
    doubts -= READABLE_ALL_THE_SAME | {"archive/one-dist-info", "archive/missing-file"}
    archive, _ = read_archive(path) if not doubts else (None, ())
    return None if archive is None else Subject(archive=archive, record=_record(archive), home=home)


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:  # a user without one
        return ""


def _record(archive: Archive) -> dict[str, Row]:
    """Return the rows of the only RECORD of an archive; the strict reader has said what is wrong with it."""
    names = [name for name in archive.by_name if name.count("/") == 1 and name.endswith(".dist-info/RECORD")]
    if len(names) != 1:
        return {}
    try:
        text = read_whole(archive, names[0])
    except IntegrityError as error:
        if not error.findings:  # the file itself is another one now
            raise
        return {}
    return parse_record(text, names[0], Collector(archive.name))


def _started(names: list[str], subject: Subject | None) -> dict[str, Check]:
    if subject is None:
        return {}
    modules = {name: cast("CheckModule", importlib.import_module(f"ropewalk.checks.{name}")) for name in names}
    return {name: one for name, module in modules.items() if (one := module.start(subject)) is not None}


def _read_members(archive: Archive, checks: Sequence[Check], pool: Executor) -> list[Finding]:
    """Show every member's content to the scanners that want it; return what is damaged."""
    work = []
    for member in archive.members:
        scanners = [scanner for one in checks if (scanner := one.scanner(member)) is not None]
        if scanners:
            work.append((member, scanners))
    # The largest first, so that no thread begins with one when the others are done.
    work.sort(key=lambda job: -job[0].size)
    running = [pool.submit(_read_member, archive, member, scanners) for member, scanners in work]
    try:
        return [finding for one in running if (finding := one.result()) is not None]
    finally:
        for one in running:
            one.cancel()


def _read_member(archive: Archive, member: Member, scanners: Sequence[Scanner]) -> Finding | None:
    whole = False
    try:
        with archive.open() as file:
            for piece in pieces(file, member):
                for scanner in scanners:
                    scanner.feed(piece)
        whole = True
    except MemberFault as fault:
        return fault.finding(archive, member)
    finally:
        for scanner in scanners:
            scanner.finish(whole=whole)
    return None
