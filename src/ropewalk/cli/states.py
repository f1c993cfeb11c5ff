"""The commands that work on a store of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from ropewalk.lock.store import Entry, Store


def _store(options: argparse.Namespace) -> Store:
    from ropewalk.lock.store import open_store  # noqa: PLC0415
    from ropewalk.tools.objects import default_cache  # noqa: PLC0415

    return open_store(options.store, options.cache or default_cache(), options.branch)


def _listed(entries: Iterable[Entry]) -> str:
    from ropewalk.report.terminal import visible  # noqa: PLC0415

    return "".join(visible(f"{one.id[:12]}  {one.time}  {' '.join(one.labels)}".rstrip() + "\n") for one in entries)


def run_push(options: argparse.Namespace) -> int:
    """Put the state of a lock into the store; its id goes to stdout."""
    from ropewalk.lock.files import read_lock  # noqa: PLC0415
    from ropewalk.lock.store import push_state  # noqa: PLC0415

    pushed = push_state(read_lock(options.lock), _store(options))
    print_result(pushed, options, f"{pushed.id}\n")
    return 0


def run_pull(options: argparse.Namespace) -> int:
    """Write a state of the store as a lock folder."""
    from ropewalk.lock.files import write_lock  # noqa: PLC0415
    from ropewalk.lock.store import read_state  # noqa: PLC0415

    state = read_state(_store(options), options.state)
    changed = write_lock(state, options.lock)
    print_result({"lock": options.lock, "changed": changed}, options, f"{options.lock}\n")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """List the states, the newest first."""
    from ropewalk.lock.store import list_states  # noqa: PLC0415

    entries = list_states(_store(options))
    print_result(entries, options, _listed(entries))
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Show a state: what each source is at."""
    from ropewalk.lock.store import read_state  # noqa: PLC0415
    from ropewalk.report.terminal import visible  # noqa: PLC0415

    state = read_state(_store(options), options.state)
    lines = [f"frozen {state.time}" + (", degraded" if state.degraded else "")]
    for source in state.sources:
        lines.append(f"{source.name}: {source.patched_commit} ({source.ref})")
        lines += [f"  patch {patch.origin}: {patch.standing.value} at {patch.tip}" for patch in source.patches]
    result = {"time": state.time, "degraded": state.degraded, "tools": state.tools, "sources": state.sources}
    print_result(result, options, visible("\n".join(lines) + "\n"))
    return 0


def run_label(options: argparse.Namespace) -> int:
    """Give a state a label."""
    from ropewalk.lock.store import label_state  # noqa: PLC0415

    entry = label_state(_store(options), options.state, options.label)
    print_result(entry, options, f"{entry.id}\n")
    return 0


def run_prune(options: argparse.Namespace) -> int:
    """Drop states without a label; without --yes, only say which."""
    from ropewalk.lock.store import prune_states  # noqa: PLC0415

    dropped = prune_states(_store(options), keep_last=options.keep_last, dry_run=not options.yes)
    print_result(dropped, options, _listed(dropped))
    return 0
