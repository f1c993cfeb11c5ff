"""The commands that work on a store of states."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result
from ropewalk.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from ropewalk.lock.store import Entry, Held, Store


def _open(place: str, options: argparse.Namespace) -> Store:
    from ropewalk.lock.store import open_store  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    return open_store(place, options.cache or default_cache(), options.branch)


def _store(options: argparse.Namespace) -> Store:
    return _open(options.store, options)


def _listed(entries: Iterable[Entry]) -> str:
    from ropewalk.report.terminal import one_line  # noqa: PLC0415

    return "".join(one_line(_row(entry)) + "\n" for entry in entries)


def _row(entry: Entry) -> str:
    count = f"{entry.sources} source{'' if entry.sources == 1 else 's'}"
    degraded = [f"({entry.degraded} degraded)"] if entry.degraded else []
    return "  ".join([entry.id[:12], entry.time, count, *degraded, *([" ".join(entry.labels)] if entry.labels else [])])


def run_push(options: argparse.Namespace) -> int:
    """Put the state of a lock into the store; its id goes to stdout."""
    from ropewalk.lock.store import push  # noqa: PLC0415

    pushed = push(options.lock, store=_store(options))
    if not pushed.new:
        sys.stderr.write("nothing has moved\n")
    print_result(pushed, options, f"{pushed.id}\n")
    return 0


def run_pull(options: argparse.Namespace) -> int:
    """Bring the states of another store here; those that are new go to stdout."""
    from ropewalk.lock.store import pull_states  # noqa: PLC0415

    pulled = pull_states(_open(options.origin, options), store=_store(options))
    for label in pulled.kept:
        sys.stderr.write(f"warning: the label `{label}` is on another state there, and stays where it is here\n")
    print_result(pulled, options, _listed(pulled.states))
    return 0


def run_list(options: argparse.Namespace) -> int:
    """List the states, the newest first."""
    from ropewalk.lock.store import list_states  # noqa: PLC0415

    entries = list_states(_store(options))
    print_result(entries, options, _listed(entries))
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Show a state: what each source is at."""
    from ropewalk.lock.store import find_state  # noqa: PLC0415

    held = find_state(_store(options), options.state)
    result = {
        "id": held.entry.id,
        "commit": held.entry.commit,
        "labels": held.entry.labels,
        "notes": held.notes,
        "time": held.state.time,
        "degraded": held.state.degraded,
        "tools": held.state.tools,
        "sources": held.state.sources,
    }
    print_result(result, options, _shown(held))
    return 0


def _shown(held: Held) -> str:
    from ropewalk.report.terminal import one_line  # noqa: PLC0415

    state = held.state
    lines = [f"state {held.entry.id}", f"frozen {state.time}" + (", degraded" if state.degraded else "")]
    lines += [f"labels {' '.join(held.entry.labels)}"] if held.entry.labels else []
    lines += [f"note: {note}" for note in held.notes]
    for source in state.sources:
        lines.append(f"{source.name}: {source.patched_commit} ({source.ref})")
        lines += [f"  patch {patch.origin}: {patch.standing.value} at {patch.tip}" for patch in source.patches]
        lines += [f"  degraded: {source.degraded}"] if source.degraded else []
    return "".join(one_line(line) + "\n" for line in lines)


def run_restore(options: argparse.Namespace) -> int:
    """Write a state of the store as a lock folder, whose path goes to stdout."""
    from ropewalk.lock.files import write_lock  # noqa: PLC0415
    from ropewalk.lock.store import find_state  # noqa: PLC0415

    held = find_state(_store(options), options.state)
    changed = write_lock(held.state, options.lock)
    print_result({"id": held.entry.id, "lock": options.lock, "changed": changed}, options, f"{options.lock}\n")
    return 0


def run_label(options: argparse.Namespace) -> int:
    """Give a state a label, or take one from it."""
    from ropewalk.lock.store import label_state, remove_label  # noqa: PLC0415

    change = remove_label if options.remove else label_state
    entry = change(_store(options), options.state, options.label)
    print_result(entry, options, f"{entry.id}\n")
    return 0


def run_note(options: argparse.Namespace) -> int:
    """Note something on a state."""
    from ropewalk.lock.store import note_state  # noqa: PLC0415

    entry = note_state(_store(options), options.state, options.text)
    print_result(entry, options, f"{entry.id}\n")
    return 0


def run_prune(options: argparse.Namespace) -> int:
    """Drop states without a label; without --yes, only say which."""
    from ropewalk.lock.store import prune_states  # noqa: PLC0415

    before = _moment(options.older_than, datetime.now(UTC)) if options.older_than else None
    if before is None and options.keep_last is None:
        raise UsageError("nothing says which states are to go", hint="give `--older-than`, `--keep-last`, or both")
    keep_last = 1 if options.keep_last is None else options.keep_last
    dropped = prune_states(_store(options), keep_last=keep_last, before=before, dry_run=not options.yes)
    print_result(dropped, options, _listed(dropped))
    if dropped and not options.yes:
        states = "state" if len(dropped) == 1 else "states"
        sys.stderr.write(f"{len(dropped)} {states} would be dropped; nothing was\nhint: add `--yes` to drop them\n")
    return 0


def _moment(text: str, now: datetime) -> str:
    """Return what `90d` or `2026-08-31` means, in RFC 3339 and UTC."""
    days = re.fullmatch(r"(\d{1,5})d", text)
    try:
        moment = now - timedelta(days=int(days[1])) if days else datetime.fromisoformat(text)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"`{text}` is no age and no date", hint="write it like `90d` or `2026-08-31`") from None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
