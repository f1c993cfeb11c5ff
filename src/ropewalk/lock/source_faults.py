"""What a source of a lock may not hold, whoever wrote the lock: it goes into command lines and paths.

A lock can come from anybody, in a pull request say. An id that is not one could be an option of git, or stand for
something else tomorrow; a path or a name could lead out of the folder that is written to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.tools.git import OBJECT_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.lock.state import Source

SHA256 = re.compile(r"[0-9a-f]{64}")

_SEPARATOR = re.compile(r"[/\\]")  # Windows takes either
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


class Fault(NamedTuple):
    """A value that cannot be: `rule` is what it is against, `key` its place in the source."""

    rule: str
    key: str
    message: str


def source_faults(source: Source) -> Iterator[Fault]:
    """Yield every name, id, digest and path of a source that is none."""
    if not _NAME.fullmatch(source.name):
        yield Fault("path", "", f"`{source.name}` cannot be the name of a source")
    yield from _id_faults(source)
    for one in source.lfs:
        if not SHA256.fullmatch(one.oid):
            yield Fault("not-frozen", f"lfs.{one.path}.oid", f"`{one.oid}` is no SHA-256")
    paths = [("submodules", one.path) for one in source.submodules] + [("lfs", one.path) for one in source.lfs]
    for key, path in paths:
        parts = {part.lower() for part in _SEPARATOR.split(path)}
        if not path.strip("./") or path.startswith("/") or {"..", ".git"} & parts or "\0" in path:
            yield Fault("path", key, f"`{path}` leads out of the work tree or into git's own")


def _id_faults(source: Source) -> Iterator[Fault]:
    for key, value in _ids(source):
        if not OBJECT_ID.fullmatch(value):
            yield Fault("not-frozen", key, f"`{value}` is no full object id")
        elif OBJECT_ID.fullmatch(source.commit) and "submodules" not in key and len(value) != len(source.commit):
            yield Fault("not-frozen", key, f"`{value}` is an id of another kind than the commit's")


def _ids(source: Source) -> Iterator[tuple[str, str]]:
    for key in ("commit", "tree", "patched_commit", "patched_tree"):
        yield key.replace("_", "-"), getattr(source, key)
    for patch in source.patches:
        for key in ("base", "tip", "tree"):
            yield f"patches.{patch.origin}.{key}", getattr(patch, key)
    for one in source.submodules:
        yield f"submodules.{one.path}.commit", one.commit
        yield f"submodules.{one.path}.tree", one.tree
