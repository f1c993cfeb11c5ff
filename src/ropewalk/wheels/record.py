"""RECORD: every file of a wheel with its hash and size (PEP 376, recording installed projects)."""

from __future__ import annotations

import base64
import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.wheels.names import unsafe_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.finding import Collector

ALGORITHMS = {"sha256": 32, "sha384": 48, "sha512": 64}
"""What the binary distribution format calls sha256 or better, and every installer computes; bytes of each digest."""

_SIZE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One file: its path, its hash, and its size in bytes where RECORD states it."""

    path: str
    algorithm: str
    digest: bytes
    size: int | None


def parse_record(data: bytes, name: str, found: Collector) -> dict[str, Row]:
    """Return the rows of a RECORD that state a hash, by path; every violation goes to `found`.

    `name` is RECORD's own path. It and its signatures are the only files without a hash.
    """
    try:
        text = data.decode("utf-8")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        found.error("record/format", f"is not CSV in UTF-8: {error}", member=name)
        return {}
    unhashed = unhashed_names(name)
    rows: dict[str, Row] = {}
    seen: set[str] = set()
    for number, fields in enumerate(lines, 1):
        if not fields:
            continue
        if len(fields) != 3:
            found.error("record/format", f"row {number} has {len(fields)} fields instead of 3", member=name)
            continue
        path, stated_hash, size = fields
        if path in seen:
            found.error("record/duplicate-row", f"row {number} lists the file again", member=path)
            continue
        seen.add(path)
        if path in unhashed:
            if stated_hash or size:
                found.error("record/own-row", "RECORD states a hash or size of itself or its signature", member=path)
            continue
        row = _row(path, stated_hash, size, found)
        if row is not None:
            rows[path] = row
    if name not in seen:
        found.error("record/not-listed", "RECORD does not list itself", member=name)
    return rows


def unhashed_names(record_name: str) -> frozenset[str]:
    """Return the files that cannot carry a hash: RECORD and the signatures of RECORD."""
    return frozenset({record_name, f"{record_name}.jws", f"{record_name}.p7s"})


def _row(path: str, stated_hash: str, size: str, found: Collector) -> Row | None:
    if reason := unsafe_path(path):
        found.error("record/unsafe-path", f"RECORD lists a path that {reason}", member=path)
        return None
    if not stated_hash:
        found.error("record/no-hash", "RECORD states no hash", member=path)
        return None
    algorithm, _, encoded = stated_hash.partition("=")
    if algorithm not in ALGORITHMS:
        found.error("record/weak-hash", f"RECORD uses `{algorithm}`; only {', '.join(ALGORITHMS)} count", member=path)
        return None
    digest = _digest(algorithm, encoded)
    if digest is None:
        found.error("record/format", f"RECORD's hash is not urlsafe base64 of a {algorithm} digest", member=path)
        return None
    if size and not _SIZE.fullmatch(size):
        found.error("record/format", f"RECORD's size `{size[:20]}` is not a number of bytes", member=path)
        return None
    return Row(path=path, algorithm=algorithm, digest=digest, size=int(size) if size else None)


def _digest(algorithm: str, encoded: str) -> bytes | None:
    try:
        digest = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except ValueError:
        return None
    # The decoder takes one digest in several spellings; the specification knows one, without padding.
    return digest if len(digest) == ALGORITHMS[algorithm] and encode_digest(digest) == encoded else None


def encode_digest(digest: bytes) -> str:
    """Return a digest as RECORD writes it: urlsafe base64 without padding."""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def render_record(rows: Iterable[Row], name: str) -> bytes:
    """Return the text of a RECORD, its own row last; lines end with LF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow(
            (row.path, f"{row.algorithm}={encode_digest(row.digest)}", "" if row.size is None else row.size)
        )
    writer.writerow((name, "", ""))
    return out.getvalue().encode()
