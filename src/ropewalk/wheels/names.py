"""The names of members: which are safe, and which mean the same file somewhere."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.finding import Collector

LONGEST_PATH = 4096
"""Characters; no path of a common operating system is longer."""

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def unsafe_path(path: str) -> str | None:
    """Return why a path must not be unpacked, None where it is safe.

    Safe is a relative path of non-empty segments, none of them `.` or `..`, in which every operating system sees
    the same segments.
    """
    if not path:
        return "is empty"
    if path.startswith("/") or _DRIVE.match(path):
        return "is absolute"
    if "\\" in path:
        return "holds a backslash"
    if _CONTROL.search(path):
        return "holds a control character"
    if len(path) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} characters"
    segments = path.removesuffix("/").split("/")
    if ".." in segments:
        return "climbs with `..`"
    if "" in segments or "." in segments:
        return "has an empty or `.` segment"
    return None


def folded(path: str) -> str:
    """Return what a file system that ignores case and composes characters makes of a path."""
    if path.isascii():
        return path.lower()
    from unicodedata import normalize  # noqa: PLC0415 - few wheels need it

    # Canonical caseless matching, The Unicode Standard, D145.
    return normalize("NFC", normalize("NFD", path).casefold())


def parents(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first."""
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path


def check_names(names: Iterable[str], found: Collector) -> None:
    """Refuse unsafe names, names that stand twice, and names that are one file on some systems."""
    seen: dict[str, str] = {}
    for name in names:
        if reason := unsafe_path(name):
            rule = "archive/absolute-path" if reason == "is absolute" else "archive/unsafe-path"
            found.error(rule, f"the path {reason}", member=name)
        key = folded(name)
        if key not in seen:
            seen[key] = name
        elif seen[key] == name:
            found.error("archive/duplicate-member", "stands more than once in the archive", member=name)
        else:
            found.error("archive/colliding-names", f"is the same file as `{seen[key]}` on some systems", member=name)
    # NUL sorts before every character of a safe name, so what is below a path follows right after it.
    in_order = sorted((key.replace("/", "\0"), name) for key, name in seen.items())
    for (path, name), (next_path, _) in itertools.pairwise(in_order):
        if next_path.startswith(f"{path}\0"):
            found.error("archive/file-and-folder", "is a file and a folder at once", member=name)
