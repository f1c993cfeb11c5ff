"""Refs and commit ids."""

import re

from ropewalk.manifest.faults import complaint
from ropewalk.manifest.words import shown

COMMIT = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
"""A full commit id, of SHA-1 or SHA-256."""

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")
_PULL_REQUEST = re.compile(r"https://[^/\s]+/[^/\s]+/[^/\s]+/pull/(\d+)\b.*")


def ref_fault(name: str) -> str:
    """Return why a name can be no ref, empty where it can. Follows git-check-ref-format(1) with --allow-onelevel.

    As for a branch, a name that git would take for an option is refused too.
    """
    if not name:
        return "is empty"
    if _FORBIDDEN.search(name):
        return "holds a space, a control character or one of `~^:?*[\\`"
    if ".." in name or "@{" in name or name == "@":
        return "holds `..` or `@{`, or is `@`"
    if name.startswith(("/", "-")) or name.endswith(("/", ".")) or "//" in name:
        return "starts with `/` or `-`, ends with `/` or `.`, or holds `//`"
    if any(part.startswith(".") or part.endswith(".lock") for part in name.split("/")):
        return "has a part that starts with `.` or ends with `.lock`"
    return ""


def ref(text: str) -> str:
    """Return a ref's name, or a commit id in lower case."""
    if reason := ref_fault(text):
        raise complaint("ref", f"`{shown(text)}` cannot be a ref: it {reason}", _ref_hint(text))
    return text.lower() if COMMIT.fullmatch(text) else text


def _ref_hint(text: str) -> str:
    if match := _PULL_REQUEST.fullmatch(text):
        return f"write `pull/{match[1]}/head`"
    return "name a branch, a tag, a ref that starts with `refs/`, or a full commit id"
