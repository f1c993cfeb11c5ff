"""Values as JSON: keys sorted, the same text every time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ropewalk.errors import RopewalkError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> str:
    """Return a frozen value as JSON text that ends with a line end."""
    return json.dumps(_plain(value), indent=2, sort_keys=True) + "\n"


def error_to_json(error: RopewalkError) -> str:
    """Return a failure as JSON: its kind, message, hint, exit code and findings."""
    return to_json(
        {
            "error": {
                "kind": type(error).__name__,
                "message": error.message,
                "hint": error.hint,
                "exit_code": error.exit_code,
                "findings": error.findings,
            }
        }
    )


def _plain(value: object) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(str(item) for item in value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, PurePath):
        # A name that is not UTF-8 has no JSON; it is shown with its bytes written out.
        return str(value).encode(errors="surrogateescape").decode(errors="backslashreplace")
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
