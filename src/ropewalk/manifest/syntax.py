"""From a file to TOML's tables (TOML 1.0), whatever the file holds."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from ropewalk.errors import UsageError
from ropewalk.finding import Finding

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 1 << 19
"""Bytes; a manifest is written by hand."""

DEEPEST = 64
"""Parts of a dotted key: the standard library's parser takes time quadratic in their number."""

_BOM = "\ufeff"
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_DEEP_KEY = re.compile(
    r"(?<![\w-])(?:(?:[A-Za-z0-9_-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}" % DEEPEST  # noqa: UP031 - braces
)
_SURROGATE = re.compile("[\ud800-\udfff]")

# What the parser says, as it begins, and what we say.
_WORDS = (
    ("Expected '=' after a key", "there is no `=` after a key", ""),
    ("Invalid value", "there is no value that TOML knows", "text goes in quotes, arrays in brackets"),
    ("Cannot overwrite a value", "a key stands twice", "a key has one value: remove one of them"),
    ("Duplicate inline table key", "a key stands twice", "a key has one value: remove one of them"),
    ("Cannot declare", "a table is declared that is there already", "put its keys together below one header"),
    ("Cannot redefine", "a table is declared that is there already", "put its keys together below one header"),
    ("Cannot mutate immutable", "a table is added to that was written in braces or brackets", "write it in one place"),
    ("Illegal character '\\x00'", "there is a NUL byte", "a manifest is text"),
    ("Illegal character", "there is a control character", "write it as an escape, like `\\u0007`"),
    ("Found invalid character", "there is a line break or control character where none may be", "close the quotes"),
    ("Unescaped '\\'", "there is a backslash that begins no escape", "double it, or use single quotes"),
    ("Expected newline or end of document", "there is more on the line than one key and value", ""),
    ("Invalid initial character for a key part", "there is no name where a key has to be", "quote it, or name it"),
    ("Invalid statement", "there is neither a key nor a table's header", "quote a key that is not letters and digits"),
    ("Unclosed array", "an array is not closed", "close it with `]`"),
    ("Unclosed inline table", "an inline table is not closed", "close it with `}`"),
    ("Unterminated string", "a string is not closed", "close the quotes"),
    ('Expected \'"""\'', "a string is not closed", "close the quotes"),
    ("Expected \"'''\"", "a string is not closed", "close the quotes"),
    ('Expected "\'"', "a string is not closed", "close the quotes"),
    ("Expected ']", "a table's header is not closed", "close it with `]`"),
)


def read_text(path: Path) -> str:
    """Return the text of a manifest.

    Raises:
        UsageError: it is not there, not a file, too large, or not UTF-8.
    """
    hint = "name the manifest's file with `--manifest`"
    try:
        if path.is_dir():
            raise UsageError(
                f"cannot read `{path}`: it is a folder", hint=f"name the file in it: `{path / 'ropewalk.toml'}`"
            )
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        reason = (error.strerror or "the system refused").lower()
        raise UsageError(f"cannot read `{path}`: {reason}", hint=hint) from error
    except ValueError as error:  # the path itself holds a NUL
        raise UsageError("cannot read the manifest: its path holds a NUL character", hint=hint) from error
    if len(content) > LARGEST:
        raise UsageError(f"`{path}` is no manifest: it has more than {LARGEST} bytes", hint=hint)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(str(path), f"line {line}: the bytes are not UTF-8", "save the file as UTF-8") from error


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return the tables of a text.

    Raises:
        UsageError: it is not TOML, or nested so deep that no manifest is.
    """
    if text.startswith(_BOM):
        raise _refusal(name, "line 1, column 1: there is a byte order mark", "save the file as UTF-8 without one")
    if len(text) > LARGEST:
        raise UsageError(f"`{name}` is no manifest: it has more than {LARGEST} characters")
    if match := _SURROGATE.search(text):
        raise _refusal(name, f"{_at(text, match.start())}: there is half a character", "save the file as UTF-8")
    _refuse_deep_keys(text, name)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refusal(name, *_explained(str(error), text)) from error
    except RecursionError:
        raise _refusal(name, "arrays or inline tables are nested too deep", "a manifest nests a few levels") from None
    except ValueError as error:  # an integer of thousands of digits
        raise _refusal(name, "a number is too long", "text goes in quotes") from error


def _refuse_deep_keys(text: str, name: str) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") >= DEEPEST and _DEEP_KEY.search(line):
            message = f"line {number}: a key has more than {DEEPEST} parts"
            raise _refusal(name, message, "a manifest nests a few levels")


def _explained(message: str, text: str) -> tuple[str, str]:
    place = _PLACE.search(message)
    what = message[: place.start()] if place else message
    at = f"line {place[1]}, column {place[2]}" if place and place[1] else _at(text, len(text.rstrip()))
    for start, words, hint in _WORDS:
        if what.startswith(start):
            return f"{at}: {words}", hint
    return f"{at}: {what[:1].lower()}{what[1:]}", ""


def _at(text: str, offset: int) -> str:
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))}"


def _refusal(name: str, message: str, hint: str) -> UsageError:
    return UsageError(
        f"the manifest `{name}` is not valid TOML",
        findings=[Finding(rule="manifest/toml", message=message, subject=name, hint=hint)],
    )
