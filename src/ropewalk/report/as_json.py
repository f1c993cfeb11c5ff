"""Values as JSON: keys sorted, the same text every time, in ASCII so that any stream takes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ropewalk.errors import RopewalkError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> str:
    """Return a frozen value as JSON text that ends with a line end.

    Dataclasses become objects, enumerations their values, paths their text with `/`, sets sorted lists.

    Raises:
        TypeError: a value of another kind is in it.
        ValueError: a number is not finite.
    """
    return json.dumps(_plain(value), indent=2, sort_keys=True, allow_nan=False) + "\n"


def error_to_json(error: RopewalkError) -> str:
    """Return a failure as JSON: its kind (the class), message, hint, exit code and findings."""
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
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        # A name that is not UTF-8 has no JSON; it is shown with its bytes written out.
        return value.as_posix().encode(errors="surrogateescape").decode(errors="backslashreplace")
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((_plain(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _key(key: object) -> str:
    plain = _plain(key)
    if not isinstance(plain, str):
        raise TypeError(f"a key has to be text, not {type(key).__name__}")
    return plain
