"""The refs of a store, read at once and moved by compare-and-swap: all or none, and never over what others did."""

from __future__ import annotations

import contextlib
import os
import random
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ropewalk.errors import ToolError, UsageError
from ropewalk.lock.store_place import NOTES
from ropewalk.tools.git import OBJECT_ID, Git
from ropewalk.tools.process import ProcessError, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ropewalk.lock.store_place import Store

T = TypeVar("T")

DURABLE = ("core.fsync=committed,loose-object",)
"""A state that was said to be kept is on the disk, also when the machine stops."""

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*")

_SEEN = "refs/ropewalk/seen"
_LOCK_FILE = re.compile(r"Unable to create '(.+\.lock)': File exists")
_FASTER_HERE = re.compile(
    r"is at [0-9a-f]+ but expected|reference already exists|reference is missing but expected"
    r"|unable to resolve reference|\.lock': File exists"
)
_FASTER_THERE = re.compile(
    r"fetch first|non-fast-forward|stale info|already exists|needs force|failed to update ref|cannot lock ref"
    r"|incorrect old value|transaction failed|atomic push fail|failed to lock"
)
_IN_THE_WAY = re.compile(r"'(refs/[^']+)' exists; cannot create '(refs/[^']+)'")


class LostRaceError(ToolError):
    """Others were faster; look again and try again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refs:
    """What the refs of a store are at: the branch's newest commit, the notes (either empty: none), each label."""

    tip: str
    notes: str
    labels: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """A ref from `old` (empty: it is not there) to `new` (empty: it goes away).

    A move that `appends` goes from a commit to one on top of it.
    """

    ref: str
    old: str
    new: str
    appends: bool = False


def until_won(store: Store, attempt: Callable[[], T]) -> T:
    """Return what an attempt returns that lost no race; between attempts there are pauses, longer and longer.

    Raises:
        ToolError: all of them lost.
    """
    patience = store.patience
    reason = ""
    for number in range(patience.tries):
        try:
            return attempt()
        except LostRaceError as error:
            reason = error.message
        # Those who met once would meet again after the same pause.
        pause = min(patience.longest, patience.first * 1.5 ** min(number, 50))
        time.sleep(pause * (0.5 + random.random()))  # noqa: S311 - no secret
    raise ToolError(
        f"`{store.name}` could not be changed in {patience.tries} tries; the last time: {reason}",
        hint="try again; where it names a lock file and no git is at work there, remove that file",
    )


def read_refs(store: Store) -> Refs:
    """Return the refs of a store; the objects that they name are on this machine afterwards.

    Raises:
        ToolError: the store cannot be reached, or has objects that git refuses.
    """
    found = dict(_listed(store))
    labels = {
        name.removeprefix(store.labels): commit for name, commit in found.items() if name.startswith(store.labels)
    }
    refs = Refs(tip=found.get(store.branch, ""), notes=found.get(NOTES, ""), labels=labels)
    if store.url:
        fetch(store.git, store.url, (refs.tip, refs.notes, *labels.values()))
        _remember(store.git, refs.tip)
    return refs


def _listed(store: Store) -> Iterator[tuple[str, str]]:
    if store.url:
        lines = Git().lines("ls-remote", "--quiet", "--", store.url, store.branch, NOTES, f"{store.labels}*")
    else:
        wanted = (store.branch, NOTES, store.labels)
        lines = store.git.lines("for-each-ref", "--format=%(objectname)%09%(refname)", *wanted)
    for line in lines:
        object_id, _, name = line.partition("\t")
        # Patterns match the ends of names too, and a server may answer anything.
        is_label = name.startswith(store.labels) and LABEL.fullmatch(name.removeprefix(store.labels))
        if OBJECT_ID.fullmatch(object_id) and (is_label or name in (store.branch, NOTES)):
            yield name, object_id


def fetch(git: Git, place: str, objects: Iterable[str]) -> None:
    """Fetch commits and all they hold, checked by git as by `fsck --strict`; no ref is written.

    Raises:
        LostRaceError: one is not there any more.
        ToolError: the place cannot be reached, or has objects that git refuses.
    """
    wanted = sorted({one for one in objects if one} - set(_whole(git, objects)))
    if not wanted:
        return
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
    checked = ("fetch.fsckObjects=true", *DURABLE)
    try:
        git.run("fetch", *options, "--stdin", "--", place, stdin=_rows(wanted), settings=checked)
    except ProcessError as error:
        said = error.stderr.decode(errors="replace")
        if "not our ref" in said:
            raise LostRaceError(f"`{without_secrets(place)}` changed while it was read") from error
        if "fsck error" in said or "fsck warning" in said:
            raise ToolError(
                f"`{without_secrets(place)}` has an object that git refuses: {_first_fault(said)}",
                hint="somebody wrote to the store by other means; prune or restore it there",
            ) from error
        raise


def _whole(git: Git, objects: Iterable[str]) -> list[str]:
    """Return the objects if they are here with all they hold: a fetch that was killed leaves a part."""
    wanted = sorted({one for one in objects if one})
    lines = git.lines("cat-file", "--batch-check", stdin=_rows(wanted)) if wanted else []
    here = [one for one, line in zip(wanted, lines, strict=True) if not line.endswith(" missing")]
    known = ("--not", f"--glob={_SEEN}")
    walked = git.run("rev-list", "--objects", "--quiet", "--stdin", stdin=_rows([*here, *known]), codes=(0, 128))
    return here if walked.code == 0 else []


def _first_fault(said: str) -> str:
    return next((line for line in said.splitlines() if "fsck" in line), "").partition(": ")[2] or said.strip()


def _remember(git: Git, tip: str) -> None:
    """Note what is here, so that the next fetch asks for what is new; losing it costs a longer fetch."""
    if tip:
        with contextlib.suppress(ProcessError):
            git.run("update-ref", _SEEN, tip)


def move(store: Store, moves: Sequence[Move]) -> None:
    """Move refs, all at once, each from where it was seen.

    Raises:
        LostRaceError: one of them is elsewhere by now, or somebody else is at it.
        UsageError: a ref of another kind is in the way.
        ToolError: the store cannot be reached or does not allow it.
    """
    if not moves:
        return
    if store.url:
        _move_there(store, moves)
    else:
        _move_here(store, moves)


def _move_here(store: Store, moves: Sequence[Move]) -> None:
    none = "0" * len(next(filter(None, (object_id for one in moves for object_id in (one.old, one.new)))))
    steps = [
        f"update {one.ref} {one.new} {one.old or none}" if one.new else f"delete {one.ref} {one.old}" for one in moves
    ]
    stdin = _rows(["start", *steps, "prepare", "commit"])
    try:
        store.git.run("update-ref", "--create-reflog", "-m", "ropewalk", "--stdin", stdin=stdin, settings=DURABLE)
    except ProcessError as error:
        said = error.stderr.decode(errors="replace")
        _refuse_in_the_way(said)
        if "reference broken" in said:
            raise ToolError(
                f"`{store.name}` has a broken ref: {said.strip()}", hint="restore it from its log"
            ) from error
        if found := _LOCK_FILE.search(said):
            _clear_stale(store, Path(found[1]))
        if _FASTER_HERE.search(said):
            raise LostRaceError(said.strip()) from error
        raise


def _move_there(store: Store, moves: Sequence[Move]) -> None:
    # What appends needs no lease: without force, the server takes nothing that loses a commit.
    leases = [f"--force-with-lease={one.ref}:{one.old}" for one in moves if not one.appends]
    atomic = ["--atomic"] if len(moves) > 1 else []
    refspecs = [f"{one.new}:{one.ref}" for one in moves]
    command = ["push", "--porcelain", "--no-verify", *atomic, *leases, "--", store.url, *refspecs]
    try:
        store.git.run(*command)
    except ProcessError as error:
        answers = [line for line in error.stdout.decode(errors="replace").splitlines() if line.startswith("!")]
        said = "; ".join(line.split("\t")[-1] for line in answers)
        _refuse_in_the_way(error.stderr.decode(errors="replace"))
        if _FASTER_THERE.search(said) and "[remote rejected] (non-fast-forward)" not in said:
            raise LostRaceError(f"{said}\n{error.stderr.decode(errors='replace').strip()}") from error
        if answers:
            raise ToolError(
                f"`{store.name}` does not take it: {said}",
                hint="see whether you may write to it, and what its hooks say",
            ) from error
        raise


def _refuse_in_the_way(said: str) -> None:
    if found := _IN_THE_WAY.search(said):
        raise UsageError(
            f"`{found[2]}` cannot be made: `{found[1]}` is there", hint="choose another name, or remove that one"
        )


def _clear_stale(store: Store, lock: Path) -> None:
    """Remove a lock file that a killed git left."""
    if os.name != "posix" or store.git.git_dir is None:
        return
    common = Path(store.git.text("rev-parse", "--path-format=absolute", "--git-common-dir"))
    if not lock.absolute().is_relative_to(common):
        return
    with _alone_in(common), contextlib.suppress(FileNotFoundError):
        if time.time() - lock.lstat().st_mtime > store.patience.stale:
            lock.unlink()


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Let one process in at a time: of two that saw a stale file, the second would remove the first one's new one."""
    import fcntl  # noqa: PLC0415 - POSIX only

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _rows(rows: Iterable[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()
