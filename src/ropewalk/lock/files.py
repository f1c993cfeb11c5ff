"""The lock as files: canonical text, the same bytes as long as nothing moved.

`state.toml` says when and from what a state was frozen, `sources.toml` what it is, `patches/SHA256.patch` holds the
patches by their digest.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Finding
from ropewalk.lock.source_faults import source_faults
from ropewalk.lock.state import SCHEMA, Source, State, state_id
from ropewalk.tools.files import new_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

STATE = "state.toml"
SOURCES = "sources.toml"
PATCHES = "patches"
OBJECTS = "objects"

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SOURCES: TypeAdapter[tuple[Source, ...]] = TypeAdapter(tuple[Source, ...])


def lock_files(state: State) -> dict[str, bytes]:
    """Return the files of a lock by their path in it."""
    sources = sources_text(state.sources)
    about = {
        "schema": SCHEMA,
        "id": state_id(sources),
        "manifest": state.manifest,
        "time": state.time,
        "tools": dict(sorted(state.tools.items())),
    }
    files = {STATE: render_toml(about).encode(), SOURCES: sources.encode()}
    return files | {f"{PATCHES}/{digest}.patch": data for digest, data in sorted(state.patches.items())}


def sources_text(sources: Iterable[Source]) -> str:
    """Return the canonical text of sources: sorted by name, one key a line, nothing that is empty."""
    tables = {source.name: _table(source) for source in sorted(sources, key=lambda source: source.name)}
    for table in tables.values():
        del table["name"]
    return render_toml(tables)


def _table(value: object) -> dict[str, Any]:
    table = {}
    for field in fields(value):  # type: ignore[arg-type]
        item = getattr(value, field.name)
        if isinstance(item, tuple):
            item = [_table(part) if is_dataclass(part) else part for part in item]
        if item not in ("", [], False):
            table[field.name.replace("_", "-")] = item
    return table


def render_toml(table: Mapping[str, Any]) -> str:
    """Return a table as TOML, keys sorted, one a line.

    tomli-w puts tables that fit on one line there, so that a change of one value is a change of many.
    """
    return "".join(_render(table, ())).lstrip("\n")


def _render(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in sorted(table.items()):
        if not _holds_tables(value):
            yield f"{_key(key)} = {_value(value)}\n"
    for key, value in sorted(table.items()):
        below = (*path, key)
        name = ".".join(map(_key, below))
        if isinstance(value, dict):
            yield f"\n[{name}]\n"
            yield from _render(value, below)
        elif _holds_tables(value):
            for item in value:
                yield f"\n[[{name}]]\n"
                yield from _render(item, below)


def _holds_tables(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: str | int | list[str]) -> str:
    # Of what JSON leaves as it is, TOML wants only this one written out.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def archive_path(folder: Path, commit: str) -> Path:
    """Return where a lock folder keeps the objects of a commit, if it does."""
    return folder / OBJECTS / f"{commit}.pack"


def write_lock(state: State, folder: Path) -> bool:
    """Write a lock folder; return whether anything changed. Patches that no source refers to are removed.

    Raises:
        ToolError: the operating system refused a write.
    """
    files = lock_files(state)
    existing = {path.relative_to(folder).as_posix(): path for path in _files_in(folder)}
    # The same state at another time is no news.
    if SOURCES in existing and existing[SOURCES].read_bytes() == files[SOURCES] and set(existing) == set(files):
        about = tomllib.loads(existing[STATE].read_text(encoding="utf-8"))
        if about.get("manifest") == state.manifest and about.get("schema") == SCHEMA:
            return False
    # `state.toml` names the digest of the rest, so it is the last to change.
    for path in sorted(files, key=lambda path: (path == STATE, path == SOURCES, path)):
        if path not in existing or existing[path].read_bytes() != files[path]:
            with new_file(folder / path) as temporary:
                temporary.write_bytes(files[path])
    for path in sorted(set(existing) - set(files)):
        if path.startswith(f"{PATCHES}/"):
            existing[path].unlink()
    return True


def _files_in(folder: Path) -> list[Path]:
    return [
        *(path for path in (folder / STATE, folder / SOURCES) if path.is_file()),
        *sorted((folder / PATCHES).glob("*.patch")),
    ]


def read_lock(folder: Path) -> State:
    """Read a lock folder.

    Raises:
        UsageError: it is not there or cannot be understood.
        IntegrityError: its parts are not what it says they are.
    """
    if not (folder / STATE).is_file():
        raise UsageError(f"there is no lock in `{folder}`", hint="run `ropewalk freeze`, or name the folder of one")
    try:
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files_in(folder)}
    except OSError as error:
        raise UsageError(f"cannot read `{folder}`: {error.strerror}") from error
    return parse_lock(files, str(folder))


def parse_lock(files: Mapping[str, bytes], name: str) -> State:
    """Return the state that the files of a lock hold; `name` is what messages call it.

    Raises:
        UsageError: a file is missing or cannot be understood; the findings name every fault.
        IntegrityError: a file is not what its digest says.
    """
    about = _toml(files, STATE, name)
    tables = _toml(files, SOURCES, name)
    if about.get("schema") != SCHEMA:
        raise UsageError(
            f"`{name}` is a lock of schema {about.get('schema')!r}; this version reads {SCHEMA}",
            hint="use the version of ropewalk that made it, or a newer one",
        )
    if about.get("id") != state_id(files[SOURCES].decode()):
        raise IntegrityError(
            f"`{name}/{SOURCES}` is not what `{STATE}` says it is",
            hint="restore the folder from version control, or freeze again",
        )
    sources = parse_sources(tables, name)
    _refuse_faults(sources, name)
    patches = _patches(files, sources, name)
    tools = about.get("tools", {})
    return State(
        manifest=str(about.get("manifest", "")),
        time=str(about.get("time", "")),
        tools={str(tool): str(version) for tool, version in tools.items()} if isinstance(tools, dict) else {},
        sources=sources,
        patches=patches,
    )


def _toml(files: Mapping[str, bytes], path: str, name: str) -> dict[str, Any]:
    if path not in files:
        raise UsageError(f"`{name}` has no `{path}`", hint="restore the folder from version control, or freeze again")
    try:
        return tomllib.loads(files[path].decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(
            f"`{name}/{path}` cannot be read: {error}", hint="restore it from version control, or freeze again"
        ) from error


def parse_sources(tables: Mapping[str, Any], name: str) -> tuple[Source, ...]:
    """Return the sources that the tables of `sources.toml` are; `name` is what messages call the lock.

    Raises:
        UsageError: they are none; the findings name every fault.
    """
    rows = [
        {**_underscored(table), "name": source} if isinstance(table, dict) else table
        for source, table in sorted(tables.items())
    ]
    try:
        return _SOURCES.validate_python(rows)
    except ValidationError as error:
        names = sorted(tables)
        findings = [
            Finding(
                rule="lock/format",
                message=detail["msg"][0].lower() + detail["msg"][1:],
                subject=f"{name}/{SOURCES}",
                member=".".join([names[int(detail["loc"][0])], *map(str, detail["loc"][1:])]),
            )
            for detail in error.errors(include_url=False, include_input=False)
        ]
        raise UsageError(
            f"`{name}/{SOURCES}` is no lock", hint="restore it from version control, or freeze again", findings=findings
        ) from error


def _refuse_faults(sources: Iterable[Source], name: str) -> None:
    """Refuse ids, paths and names that are none, before any of them gets into a command line or a path."""
    findings = [
        Finding(rule=f"lock/{fault.rule}", message=fault.message, subject=source.name, member=fault.key)
        for source in sources
        for fault in source_faults(source)
    ]
    if findings:
        raise UsageError(
            f"`{name}/{SOURCES}` is no lock", hint="restore it from version control, or freeze again", findings=findings
        )


def _underscored(value: Any) -> Any:  # noqa: ANN401 - TOML
    if isinstance(value, dict):
        return {key.replace("-", "_"): _underscored(item) for key, item in value.items()}
    return [_underscored(item) for item in value] if isinstance(value, list) else value


def _patches(files: Mapping[str, bytes], sources: Iterable[Source], name: str) -> dict[str, bytes]:
    wanted = {step for source in sources for step in source.steps}
    patches = {}
    faults = []
    for digest in sorted(wanted):
        data = files.get(f"{PATCHES}/{digest}.patch")
        if not _SHA256.fullmatch(digest) or data is None:
            faults.append(f"`{PATCHES}/{digest}.patch` is missing")
        elif hashlib.sha256(data).hexdigest() != digest:
            faults.append(f"`{PATCHES}/{digest}.patch` is not what its name says")
        else:
            patches[digest] = data
    if faults:
        findings = [Finding(rule="lock/patch", message=fault, subject=name) for fault in faults]
        raise IntegrityError(
            f"the patches of `{name}` are not those that were frozen",
            hint="restore them from version control, or freeze again",
            findings=findings,
        )
    return patches
