"""Refs and commit ids."""

import re

from ropewalk.manifest.faults import complaint
from ropewalk.manifest.words import shown

COMMIT = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
"""A full commit id, of SHA-1 or SHA-256."""

# git-check-ref-format(1), its rules in its order, and the `-` that is forbidden to branches.
_RULES = (
    (r"(?:\A|/)\.", "has a part that starts with a dot"),
    (r"\.lock(?:/|\Z)", "has a part that ends with `.lock`"),
    (r"\.\.", "holds `..`"),
    (r"[\x00-\x20\x7f]", "holds a space or a control character"),
    (r"[~^:?*\[\\]", "holds one of `~^:?*[\\`"),
    (r"\A/|/\Z|//", "has an empty part"),
    (r"\.\Z", "ends with a dot"),
    (r"@\{", "holds `@{`"),
    (r"\A@\Z", "is `@`"),
    (r"\A-", "starts with `-`"),
)
_PULL_REQUEST = re.compile(r"https://[^/\s]+/[^/\s]+/[^/\s]+/pull/(\d+)\b.*")


def ref_fault(name: str) -> str:
    """Return why a name can be no ref, empty where it can. Follows git-check-ref-format(1) with --allow-onelevel.

    As for a branch, a name that git would take for an option is refused too.
    """
    if not name:
        return "is empty"
    return next((reason for rule, reason in _RULES if re.search(rule, name)), "")


def ref(text: str) -> str:
    """Return a ref's name, or a commit id in lower case."""
    if not text:
        raise complaint("ref", "the name of a ref is missing", _ref_hint(text))
    if reason := ref_fault(text):
        raise complaint("ref", f"`{shown(text)}` cannot be a ref: it {reason}", _ref_hint(text))
    return text.lower() if COMMIT.fullmatch(text) else text


def _ref_hint(text: str) -> str:
    if match := _PULL_REQUEST.fullmatch(text):
        return f"write `pull/{match[1]}/head`"
    return "name a branch, a tag, a ref that starts with `refs/`, or a full commit id"
