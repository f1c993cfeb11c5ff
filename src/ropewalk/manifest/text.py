"""Plain text of the manifest: lines, names of files, tags, versions, licences and environment variables."""

import re

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from ropewalk.indexes.times import utc
from ropewalk.manifest.faults import complaint
from ropewalk.manifest.words import shown

LONGEST_LINE = 4096
"""Characters of a value: more is no name, no path and no requirement."""

LONGEST_LABEL = 100
"""Characters of a name that becomes part of a file's name."""

PLATFORM = re.compile(
    r"manylinux(?:1|2010|2014|_\d+_\d+)_[a-z0-9_]+|musllinux_\d+_\d+_[a-z0-9_]+|linux_[a-z0-9_]+"
    r"|macosx_\d+_\d+_[a-z0-9_]+|ios_\d+_\d+_[a-z0-9_]+|android_\d+_[a-z0-9_]+|win32|win_(?:amd64|arm64)"
    r"|(?:pyodide|pyemscripten)_\d+_\d+_wasm32"
)
PYTHON = re.compile(r"3\.(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)(?:(?:a|b|rc)\d+)?)?t?")
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
LABEL = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")


def line(value: str) -> str:
    """Return text on one line that says something."""
    if not value.strip():
        raise complaint("empty", "must not be empty", "say something, or leave the key out")
    if len(value) > LONGEST_LINE:
        raise complaint("too-long", f"has {len(value)} characters; {LONGEST_LINE} are allowed")
    if not value.replace("\t", " ").isprintable():
        message = f"`{shown(value)}` holds a line break or another character that cannot be seen"
        raise complaint("invisible", message, "write it on one line, with plain spaces")
    return value


def label(value: str) -> str:
    """Return a name that can be that of a file or folder everywhere."""
    if len(value) > LONGEST_LABEL or not LABEL.fullmatch(value):
        raise complaint(
            "name",
            f"`{shown(value)}` is not a name",
            f"use letters, digits and single `-`, `_` or `.` between them, {LONGEST_LABEL} characters at most",
        )
    return value


def platform(value: str) -> str:
    """Return one platform tag (PEP 425, 600, 656)."""
    if not PLATFORM.fullmatch(value):
        raise complaint("platform", f"`{shown(value)}` is not a platform tag", "write it like `manylinux_2_34_x86_64`")
    return value


def python_version(value: str) -> str:
    """Return a version of Python 3; `t` at its end asks for the free-threaded build."""
    if not PYTHON.fullmatch(value):
        raise complaint("python", f"`{shown(value)}` is not a version of Python", "write it like `3.12` or `3.12.4`")
    return value


def moment(value: str) -> str:
    """Return a time in RFC 3339 and UTC, with a `Z`."""
    if not (time := utc(value)):
        raise complaint("time", f"`{shown(value)}` is not a time with its zone", "write it like `2026-01-31T00:00:00Z`")
    return time


def licence(value: str) -> str:
    """Return a licence expression in SPDX's spelling (PEP 639)."""
    try:
        return canonicalize_license_expression(value)
    except (InvalidLicenseExpression, RecursionError, MemoryError):
        raise complaint(
            "licence", f"`{shown(value)}` is not an SPDX licence expression", "write it like `Apache-2.0`"
        ) from None


def variable(value: str) -> str:
    """Return the name of an environment variable. What is not one may be a secret, and is not repeated."""
    if not VARIABLE.fullmatch(value):
        raise complaint(
            "variable",
            "must be the name of an environment variable",
            "write its name in capitals, like `PYPI_TOKEN`; a secret itself never stands in a manifest",
        )
    return value
