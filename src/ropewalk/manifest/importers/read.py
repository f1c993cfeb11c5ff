"""Read another tool's manifest and write it as `ropewalk.toml`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from ropewalk.errors import UsageError
from ropewalk.finding import Collector, Finding, has_errors
from ropewalk.manifest.importers import FORMATS
from ropewalk.manifest.importers.draft import accepted, render_draft
from ropewalk.manifest.load import parse_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.manifest.importers.draft import Draft

LARGEST = 1 << 20
"""Bytes of a file that is read; no manifest is a tenth of that."""
DEEPEST = 40


class Importer(Protocol):
    """A format: whether a document is of it, and what becomes of one that is."""

    def recognises(self, document: object) -> bool:
        """Whether a document is of this format."""

    def convert(self, document: Any, *, pin: bool, found: Collector) -> Draft:  # noqa: ANN401 - YAML
        """Return the draft of a manifest."""


def import_manifest(path: Path, *, format_name: str = "", pin: bool = False) -> tuple[str, tuple[Finding, ...]]:
    """Return the text of a `ropewalk.toml` made from another tool's manifest, and what could not be carried over.

    Raises:
        UsageError: the file cannot be read, or is of no known format.
    """
    document = _read(path)
    names = [format_name] if format_name else list(FORMATS)
    for name in names:
        importer = cast("Importer", import_module(f"ropewalk.manifest.importers.{name}"))
        if importer.recognises(document):
            return _converted(importer, document, path, pin=pin)
    known = "; ".join(FORMATS.values())
    raise UsageError(f"`{path}` is of no format that is known here", hint=f"known are {known}")


def _converted(importer: Importer, document: object, path: Path, *, pin: bool) -> tuple[str, tuple[Finding, ...]]:
    found = Collector(str(path))
    text = render_draft(accepted(importer.convert(document, pin=pin, found=found), found))
    if has_errors(found.findings):
        raise UsageError(f"`{path}` cannot be carried over", findings=found.findings)
    parse_manifest(text, "ropewalk.toml")  # what we write, we must be able to read
    return text, tuple(found.findings)


def _read(path: Path) -> object:
    from ruamel.yaml import YAML  # noqa: PLC0415 - only `init` needs it
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}", hint="name another tool's manifest") from error
    if len(data) > LARGEST:
        raise UsageError(f"`{path}` has {len(data)} bytes, more than any manifest", hint="name another file")
    try:
        document = YAML(typ="rt", pure=True).load(data.decode())
    except (YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"`{path}` is not YAML: {reason}", hint="correct it") from error
    if _is_deep(document):
        raise UsageError(f"`{path}` is nested more than {DEEPEST} deep", hint="name another file")
    return document


def _is_deep(document: object) -> bool:
    """Whether a document is nested too deep. A part that stands in several places, or in itself, is looked at once."""
    seen: set[int] = set()
    level = [document]
    for _ in range(DEEPEST):
        below: list[object] = []
        for value in level:
            if isinstance(value, dict | list) and id(value) not in seen:
                seen.add(id(value))
                below += value.values() if isinstance(value, dict) else value
        level = below
    return any(isinstance(value, dict | list) and id(value) not in seen for value in level)
