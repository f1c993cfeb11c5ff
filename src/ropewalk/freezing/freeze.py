"""From a manifest to a frozen state."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ropewalk._version import __version__
from ropewalk.errors import RopewalkError, ToolError, UsageError
from ropewalk.finding import Finding, Level
from ropewalk.freezing.archive import write_archive
from ropewalk.freezing.look_up import Looked, look_up_source
from ropewalk.freezing.source import Done, Work, freeze_source
from ropewalk.lock.files import read_lock, sources_text, write_lock
from ropewalk.lock.state import Source, State, state_id
from ropewalk.manifest.load import load_manifest
from ropewalk.tools.git import Git
from ropewalk.tools.objects import default_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.manifest.sources import Source as WantedSource

LOOKUPS = 64
"""Repositories that are asked at once; they wait for the network, not for a processor."""
AT_ONCE = 8
"""Sources that are frozen at once."""
LOCK = "ropewalk.lock"

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Frozen:
    """A state, whether it is news, and what is to be said of it. `moved` are the sources that came, went or changed."""

    id: str
    lock: Path
    changed: bool
    moved: tuple[str, ...]
    state: State
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """How to freeze.

    `only` are the sources to look at: all others stay as the lock has them. With `upgrade` all others stay at their
    commit, while what the manifest says of them is taken in; with `stay` all do. With `keep_going` a source that fails
    stays where it was, and the state says so. With `archive` the objects of every commit are kept beside the lock.
    """

    only: tuple[str, ...] = ()
    upgrade: tuple[str, ...] = ()
    stay: bool = False
    keep_going: bool = False
    archive: bool = False
    dry_run: bool = False


def freeze(
    manifest: Path = Path("ropewalk.toml"),
    *,
    lock: Path | None = None,
    cache: Path | None = None,
    order: Order | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Frozen:
    """Freeze the sources of a manifest into a lock folder, by default `ropewalk.lock` beside it.

    Raises:
        UsageError: the manifest or the lock is at fault, a ref is not there or a patch does not apply.
        ToolError: a repository cannot be reached.
        IntegrityError: a patch does not make its tip of its base.
    """
    order = order or Order()
    sources = load_manifest(manifest).sources
    folder = lock or manifest.parent / LOCK
    before = read_lock(folder) if folder.exists() else None
    locked = {source.name: source for source in before.sources} if before else {}
    _check_names([*order.only, *order.upgrade], sources)
    chosen = {name: source for name, source in sources.items() if not order.only or name in order.only}

    def look(name: str, source: WantedSource) -> Looked:
        stays = order.stay or (order.upgrade and name not in order.upgrade)
        return look_up_source(source, locked.get(name) if stays else None)

    work = Work(cache or default_cache(), manifest.parent, locked)
    looked = _all(look, chosen, LOOKUPS)

    def freeze_one(name: str, source: WantedSource) -> Done:
        found = looked[name]
        if isinstance(found, RopewalkError):
            raise found
        return freeze_source(work, name, source, found)

    done = _all(freeze_one, chosen, AT_ONCE)
    findings = _settle(done, locked, order)
    frozen = [one.source for one in done.values() if isinstance(one, Done)]
    frozen += [source for name, source in locked.items() if name in sources and name not in chosen]
    new = {digest: data for one in done.values() if isinstance(one, Done) for digest, data in one.patches.items()}
    known = {**(before.patches if before else {}), **new}
    state = State(
        manifest=hashlib.sha256(manifest.read_bytes()).hexdigest(),
        time=now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        tools={"git": Git().text("version").removeprefix("git version "), "ropewalk": __version__},
        sources=tuple(sorted(frozen, key=lambda source: source.name)),
        patches={step: known[step] for source in frozen for step in source.steps},
    )
    moved = tuple(source.name for source in state.sources if locked.get(source.name) != source)
    gone = tuple(sorted(set(locked) - {source.name for source in state.sources}))
    changed = bool(moved or gone) if order.dry_run else write_lock(state, folder)
    if order.archive and not order.dry_run:
        write_archive(state, folder, work.cache)
    return Frozen(
        id=state_id(sources_text(state.sources)),
        lock=folder,
        changed=changed,
        moved=(*moved, *gone),
        state=state,
        findings=tuple(findings),
    )


def _check_names(names: Sequence[str], sources: Mapping[str, WantedSource]) -> None:
    unknown = [name for name in names if name not in sources]
    if unknown:
        raise UsageError(
            "the manifest has no source " + ", ".join(f"`{name}`" for name in unknown),
            hint=f"it has {', '.join(f'`{name}`' for name in sources) or 'none'}",
        )


def _all(
    task: Callable[[str, WantedSource], _Value], sources: Mapping[str, WantedSource], most: int
) -> dict[str, _Value | RopewalkError]:
    """Run a task for every source, several at once; a failure is its source's result."""

    def guarded(item: tuple[str, WantedSource]) -> _Value | RopewalkError:
        try:
            return task(*item)
        except RopewalkError as error:
            return error

    if not sources:
        return {}
    with ThreadPoolExecutor(max_workers=min(most, len(sources))) as executor:
        return dict(zip(sources, executor.map(guarded, sources.items()), strict=True))


def _settle(done: dict[str, Done | RopewalkError], locked: Mapping[str, Source], order: Order) -> list[Finding]:
    """Refuse failures, all at once, or let their sources stay where they were; return what is to be said."""
    findings: list[Finding] = []
    faults: dict[str, RopewalkError] = {}
    for name, one in done.items():
        if isinstance(one, Done):
            findings += one.findings
        elif order.keep_going and name in locked:
            done[name] = Done(source=replace(locked[name], degraded=one.message), patches={})
            findings.append(
                Finding(rule="freeze/degraded", message=one.message, subject=name, level=Level.WARNING, hint=one.hint)
            )
        else:
            faults[name] = one
    if faults:
        usage = all(isinstance(fault, UsageError) for fault in faults.values())
        kind: type[RopewalkError] = UsageError if usage else ToolError
        raise kind(
            f"{len(faults)} of {len(done)} sources cannot be frozen; the lock is as it was",
            hint="with `--keep-going` they stay at their last good commit",
            findings=[
                Finding(rule="freeze/source", message=fault.message, subject=name, hint=fault.hint)
                for name, fault in faults.items()
            ],
        )
    return findings
