"""Times as indexes and manifests write them (RFC 3339)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")

_PLAIN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")


def utc(text: object) -> str:
    """Return a time in RFC 3339 and UTC, with a `Z`, and empty for what is none."""
    if not isinstance(text, str) or not RFC_3339.fullmatch(text):
        return ""
    try:
        when = datetime.fromisoformat(text.upper())
        if not _PLAIN.fullmatch(text):
            text = f"{when.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
    except (ValueError, OverflowError):
        return ""
    # Without needless digits, so that equal times are equal texts.
    return f"{text[:-1].rstrip('0').rstrip('.')}Z" if "." in text else text


def is_before(time: str, other: str) -> bool:
    """Whether one time is before the other, both as `utc` returns them."""
    return time[:-1] < other[:-1]  # with the `Z`, a fraction of a second would come first
