"""[version]: where the version is written, its forms, and the files that repeat it."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from ropewalk.manifest.faults import Fault, also, complaint, tables
from ropewalk.manifest.fields import Array, File, Line, NonEmptyArray, twice, unique
from ropewalk.manifest.refs import ref_fault
from ropewalk.manifest.section import Section
from ropewalk.manifest.words import shown

PLACE = "{version}"
_SCHEME = re.compile(r"X(?:\.Y(?:\.Z)?)?(?:(?:a|b|rc)N)?(?:\.postN)?(?:\.devN)?")


def _scheme(value: str) -> str:
    if not _SCHEME.fullmatch(value):
        hint = "write `X.Y.Z`, and behind it `aN`, `bN` or `rcN`, `.postN`, `.devN` (PEP 440)"
        raise complaint("version-scheme", f"`{shown(value)}` is not the form of a version", hint)
    return value


def _with_version(value: str) -> str:
    if value.count(PLACE) != 1:
        raise complaint("no-version", f"`{shown(value)}` must hold `{PLACE}` once", "the version goes in its place")
    return value


def _tag(value: str) -> str:
    _with_version(value)
    name = value.replace(PLACE, "1.0")
    if reason := ref_fault(name):
        raise complaint("ref", f"`{shown(value)}` cannot be a tag: it {reason}", "write it like `v{version}`")
    return value


Scheme = Annotated[Line, AfterValidator(_scheme)]


class Stamp(Section):
    """A line of a file that repeats the version."""

    file: File = Field(description="The file.", examples=["src/pkg/_version.py"])
    line: Annotated[Line, AfterValidator(_with_version)] = Field(
        description="The line, with {version} in the place of the version.", examples=['__version__ = "{version}"']
    )


class Version(Section):
    """Where the version is written, its forms, and the files that repeat it."""

    file: File = Field(
        description="The file that holds the version; the only place to change it.", examples=["VERSION"]
    )
    scheme: Annotated[NonEmptyArray[Scheme], also(unique())] = Field(
        default=("X.Y.Z", "X.Y.ZaN", "X.Y.ZbN", "X.Y.ZrcN", "X.Y.Z.devN"),
        description="The forms that a version may have: X, Y, Z and N stand for numbers.",
        examples=[["X.Y.Z", "X.Y.ZbN"]],
    )
    tag: Annotated[Line, AfterValidator(_tag)] = Field(
        default="v{version}", description="The tag of a release.", examples=["kumo-engine-v{version}"]
    )
    stamps: Array[Stamp] = Field(default=(), description="Lines of other files that repeat the version.")

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield stamps that stand twice."""
        seen = set()
        for number, stamp in tables(table, "stamps"):
            at = (str(stamp.get("file")), str(stamp.get("line")))
            if at in seen:
                yield twice(("stamps", number), at[0], at[0])
            seen.add(at)
