"""The commands and their flags."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk._version import __version__
from ropewalk.cli import diff, scaffold, states, verify, wheel, world
from ropewalk.manifest.importers import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; what it returns has `run`, the function behind the chosen command."""
    parser = argparse.ArgumentParser(
        prog="ropewalk",
        description="Lay component wheels into one wheel that can be trusted byte by byte.",
        epilog="`ropewalk COMMAND --help` says more about a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ropewalk {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_init(commands)
    _add_freeze(commands)
    _add_checkout(commands)
    _add_diff(commands)
    _add_verify(commands)
    _add_states(commands)
    _add_bundle(commands)
    _add_split(commands)
    _add_check(commands)
    _add_explain(commands)
    return parser


Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for it


def _command(commands: Commands[argparse.ArgumentParser], name: str, what: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False)
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    return command


def _add_jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument("--jobs", type=_count, metavar="N", help="threads to work with (default: one a processor)")


def _add_init(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "init", "write a first manifest, from nothing or from another tool's")
    command.set_defaults(run=scaffold.run_init)
    command.add_argument("--from", dest="origin", type=Path, metavar="FILE", help="manifest.yaml, .repos or west.yml")
    command.add_argument("--format", choices=FORMATS, help="what --from is (default: seen from its content)")
    command.add_argument("--pin", action="store_true", help="track commits that it says were verified")
    output = Path("ropewalk.toml")
    command.add_argument("--output", type=Path, default=output, metavar="FILE", help=f"default: {output}")


def _add_freeze(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "freeze", "freeze the sources of a manifest into a lock and print the state's id")
    command.set_defaults(run=world.run_freeze)
    command.add_argument(
        "--manifest", type=Path, default=Path("ropewalk.toml"), metavar="FILE", help="default: ropewalk.toml"
    )
    command.add_argument("--lock", type=Path, metavar="DIR", help="default: ropewalk.lock beside the manifest")
    command.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="look at this source only; may be repeated"
    )
    command.add_argument(
        "--upgrade", action="append", default=[], metavar="NAME", help="move this source only; may be repeated"
    )
    command.add_argument(
        "--stay", action="store_true", help="move no source, and take in what the manifest says of them: a fix, say"
    )
    command.add_argument(
        "--keep-going", action="store_true", help="let a source that fails stay at its last good commit"
    )
    command.add_argument(
        "--archive", action="store_true", help="keep the objects beside the lock, so that it can outlive its upstreams"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would move, and write nothing")
    _add_cache(command)


def _add_checkout(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "checkout", "write work trees of the frozen sources and print their folders")
    command.set_defaults(run=world.run_checkout)
    command.add_argument("names", nargs="*", metavar="NAME", help="a source (default: all)")
    command.add_argument("--into", type=Path, required=True, metavar="DIR", help="the folder to write them into")
    command.add_argument(
        "--lock", type=Path, default=Path("ropewalk.lock"), metavar="DIR", help="default: ropewalk.lock"
    )
    command.add_argument("--offline", action="store_true", help="fetch nothing")
    _add_cache(command)


def _add_diff(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "diff", "show what changed between two states")
    command.set_defaults(run=diff.run_diff)
    what = "a lock folder, a revision of git (REV or REV:DIR), or a state of the store"
    command.add_argument("before", metavar="A", help=what)
    command.add_argument("after", metavar="B", help=what)
    command.add_argument("--markdown", action="store_true", help="write Markdown, for the body of a pull request")
    lock = Path("ropewalk.lock")
    command.add_argument(
        "--lock", type=Path, default=lock, metavar="DIR", help=f"the folder in revisions; default: {lock}"
    )
    command.add_argument("--offline", action="store_true", help="fetch no history")
    command.add_argument("--exit-code", action="store_true", help="end with 1 where something has changed")
    _add_store(command)


def _add_verify(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "verify", "see whether a frozen state still holds")
    command.set_defaults(run=verify.run_verify)
    command.add_argument(
        "level",
        choices=("lint", "upstream", "sources"),
        metavar="LEVEL",
        help="lint: the lock by itself; upstream: what repositories have; sources: trees and patches, offline",
    )
    lock, manifest = Path("ropewalk.lock"), Path("ropewalk.toml")
    command.add_argument("--lock", type=Path, default=lock, metavar="DIR", help=f"default: {lock}")
    command.add_argument("--manifest", type=Path, default=manifest, metavar="FILE", help=f"default: {manifest}")
    _add_cache(command)


def _add_states(commands: Commands[argparse.ArgumentParser]) -> None:
    what = "keep states in a branch, and look at them"
    group = commands.add_parser("states", help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False)
    below = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    lock = Path("ropewalk.lock")

    push = _add_state_command(below, "push", "put the state of a lock into the store and print its id", states.run_push)
    push.add_argument("--lock", type=Path, default=lock, metavar="DIR", help=f"default: {lock}")
    pull = _add_state_command(below, "pull", "bring the states of another store into the one here", states.run_pull)
    pull.add_argument("origin", metavar="FROM", help="the other repository's folder or URL")
    _add_state_command(below, "list", "list the states, the newest first", states.run_list)
    show = _add_state_command(below, "show", "show what the sources of a state are at", states.run_show)
    _add_state(show)
    restore = _add_state_command(below, "restore", "write a state of the store as a lock", states.run_restore)
    _add_state(restore)
    restore.add_argument("--lock", type=Path, default=lock, metavar="DIR", help=f"default: {lock}")
    label = _add_state_command(below, "label", "give a state a label, or move one to it", states.run_label)
    _add_state(label)
    label.add_argument("label", metavar="LABEL", help="such as green or release/26.08")
    label.add_argument("--remove", action="store_true", help="take the label from the state")
    note = _add_state_command(below, "note", "note something on a state, such as the outcome of tests", states.run_note)
    _add_state(note)
    note.add_argument("text", metavar="TEXT", help="one line")
    prune = _add_state_command(below, "prune", "drop old states that have no label", states.run_prune)
    prune.add_argument("--older-than", metavar="AGE", help="keep those younger than 90d, say, or than a date")
    prune.add_argument("--keep-last", type=int, metavar="N", help="keep the last N (default: the last one)")
    prune.add_argument("--yes", action="store_true", help="do it; without this, only say which would go")


def _add_state(command: argparse.ArgumentParser) -> None:
    what = "an id (eight digits are enough), a label, a commit, or a revision of git"
    command.add_argument("state", metavar="STATE", help=what)


def _add_state_command(
    commands: Commands[argparse.ArgumentParser], name: str, what: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    command = _command(commands, name, what)
    command.set_defaults(run=run)
    _add_store(command)
    return command


def _add_store(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--store", default=".", metavar="PLACE", help="a repository's folder or URL (default: the one in this folder)"
    )
    command.add_argument(
        "--branch", default="refs/heads/ropewalk/states", metavar="REF", help="default: refs/heads/ropewalk/states"
    )
    _add_cache(command)


def _add_cache(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cache", type=Path, metavar="DIR", help="where fetched objects are kept")


def _add_bundle(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "bundle", "lay component wheels into one wheel and print its path")
    command.set_defaults(run=wheel.run_bundle)
    command.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL", help="a component wheel")
    command.add_argument(
        "--manifest",
        type=Path,
        metavar="FILE",
        help="the manifest (default: ropewalk.toml; not read where --name and wheels are given)",
    )
    command.add_argument("--name", metavar="NAME", help="the component whose name, version and extras lead")
    command.add_argument("--output", type=Path, metavar="DIR", help="the folder to write to (default: dist)")
    command.add_argument(
        "--external",
        action="append",
        default=[],
        metavar="NAME",
        help="a package that is never part of the bundle; may be repeated",
    )
    command.add_argument(
        "--commit",
        action="append",
        default=[],
        type=_commit,
        metavar="NAME=SHA",
        help="the commit that a component was built from; may be repeated",
    )
    command.add_argument(
        "--platform", metavar="TAG", help="the platform of the bundle's tag, held against what its binaries need"
    )
    command.add_argument(
        "--identity",
        action=argparse.BooleanOptionalAction,
        help="let importlib.metadata find each component once the bundle is installed",
    )
    command.add_argument(
        "--allow-direct-urls",
        action=argparse.BooleanOptionalAction,
        help="accept requirements by URL, which public indexes refuse",
    )
    _add_jobs(command)


def _add_split(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "split", "give the components of a bundle back as wheels")
    command.set_defaults(run=wheel.run_split)
    command.add_argument("wheel", type=Path, metavar="WHEEL", help="a wheel that `ropewalk bundle` made")
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder to write to")
    _add_jobs(command)


def _add_check(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "check", "look for what is wrong with a wheel")
    command.set_defaults(run=wheel.run_check)
    command.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="any wheel")
    command.add_argument(
        "--only", action="append", default=[], metavar="CHECK", help="run only this check; may be repeated"
    )
    _add_jobs(command)


def _add_explain(commands: Commands[argparse.ArgumentParser]) -> None:
    command = _command(commands, "explain", "say which component, in which version, a file of a bundle came from")
    command.set_defaults(run=wheel.run_explain)
    command.add_argument("wheel", type=Path, metavar="WHEEL", help="a wheel that `ropewalk bundle` made")
    command.add_argument("path", metavar="PATH", help="a file in it, as `unzip -l` lists it")


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 64 * (os.cpu_count() or 1):
        raise argparse.ArgumentTypeError(f"{text} threads are too few or too many")
    return number


def _commit(text: str) -> tuple[str, str]:
    name, equals, commit = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=SHA")
    return name, commit
