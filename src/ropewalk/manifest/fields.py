"""The types of the manifest's values: text, arrays and tables, each with its rule and what an editor should know."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

from packaging.utils import NormalizedName, canonicalize_name
from pydantic import AfterValidator, Field, Strict, WithJsonSchema

from ropewalk.indexes.times import RFC_3339
from ropewalk.manifest import addresses, paths, refs, requirements, text
from ropewalk.manifest.faults import Fault, also, strings
from ropewalk.manifest.words import shown

Key = TypeVar("Key", bound=str)
Value = TypeVar("Value")


def twice(path: tuple[str | int, ...], value: str, first: str) -> Fault:
    """Return the fault of a name that stands twice, perhaps under two spellings."""
    message = f"`{shown(value)}` stands twice" if value == first else f"is the same as `{shown(first)}`"
    return Fault(path, "duplicate", message, "remove one of them")


def unique(same: Callable[[str], str] = str) -> Callable[[object], Iterator[Fault]]:
    """Return a check that no two strings of an array, or keys of a table, mean the same; `same` gives the meaning."""

    def check(values: object) -> Iterator[Fault]:
        seen: dict[str, str] = {}
        items = [(key, key) for key in values] if isinstance(values, Mapping) else strings({"": values}, "")
        for place, value in items:
            if same(value) in seen:
                yield twice((place,), value, seen[same(value)])
            seen.setdefault(same(value), value)

    return check


def frozen(table: Mapping[Key, Value]) -> Mapping[Key, Value]:
    """Return a table that cannot be changed."""
    return MappingProxyType(dict(table))


def _pattern(rule: re.Pattern[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^(?:{rule.pattern})$"})


Line = Annotated[str, AfterValidator(text.line)]
Label = Annotated[Line, AfterValidator(text.label), _pattern(text.LABEL)]
Platform = Annotated[Line, AfterValidator(text.platform), _pattern(text.PLATFORM)]
PythonVersion = Annotated[Line, AfterValidator(text.python_version), _pattern(text.PYTHON)]
Moment = Annotated[Line, AfterValidator(text.moment), _pattern(RFC_3339)]
Licence = Annotated[Line, AfterValidator(text.licence)]
Variable = Annotated[Line, AfterValidator(text.variable), _pattern(text.VARIABLE)]
Distribution = Annotated[NormalizedName, AfterValidator(text.line), AfterValidator(requirements.distribution)]
Requirement = Annotated[Line, AfterValidator(requirements.requirement)]
Folder = Annotated[Line, AfterValidator(paths.folder)]
File = Annotated[Line, AfterValidator(paths.file)]
Ref = Annotated[Line, AfterValidator(refs.ref)]
Repository = Annotated[Line, AfterValidator(addresses.repository)]
UploadURL = Annotated[Line, AfterValidator(addresses.upload_url)]
IndexURL = Annotated[Line, AfterValidator(addresses.index_url)]

Array = Annotated[tuple[Value, ...], Strict(False)]  # noqa: FBT003 - TOML has lists, and a tuple cannot change
UniqueArray = Annotated[Array[Value], also(unique())]
NonEmptyArray = Annotated[Array[Value], Field(min_length=1)]
Distributions = Annotated[Array[Distribution], also(unique(canonicalize_name))]
SomeDistributions = Annotated[NonEmptyArray[Distribution], also(unique(canonicalize_name))]
Requirements = Annotated[Array[Requirement], also(unique())]
Table = Annotated[Mapping[Key, Value], AfterValidator(frozen)]
DistributionTable = Annotated[Mapping[Distribution, Value], also(unique(canonicalize_name)), AfterValidator(frozen)]
