"""[python]: where packages come from, for which platforms, and edits of their metadata."""

from collections.abc import Iterator, Mapping
from typing import Literal

from packaging.utils import canonicalize_name
from pydantic import Field

from ropewalk.manifest.faults import Fault, strings, tables
from ropewalk.manifest.fields import (
    Array,
    Distribution,
    Distributions,
    Folder,
    IndexURL,
    Label,
    Line,
    Moment,
    Platform,
    PythonVersion,
    Requirements,
    SomeDistributions,
    UniqueArray,
    twice,
)
from ropewalk.manifest.requirements import required
from ropewalk.manifest.section import Section
from ropewalk.manifest.words import shown


class Index(Section):
    """A further index, which serves the packages assigned to it and no others."""

    name: Label = Field(description="What other parts of the manifest and messages call it.", examples=["nightly"])
    url: IndexURL = Field(
        description="Its simple API (PEP 503, PEP 691): https or file, without credentials.",
        examples=["https://packages.example/simple"],
    )
    packages: SomeDistributions = Field(
        description="The packages it may serve; no other index serves them.", examples=[["jaxlib"]]
    )
    upload_times: bool = Field(
        default=True,
        description="Whether it tells when files were uploaded; if not, `exclude-newer` admits those files.",
    )


class Edit(Section):
    """An edit of the requirements of somebody's package. One without effect is an error when it is used."""

    package: Distribution = Field(description="The package whose metadata is edited.", examples=["axlearn"])
    why: Line = Field(description="What the edit is for.", examples=["only its examples need it"])
    drop: Distributions = Field(default=(), description="Names of requirements that go.", examples=[["tensorflow"]])
    replace: Requirements = Field(
        default=(), description="Requirements that each take the place of those of the same name."
    )
    add: Requirements = Field(default=(), description="Requirements that are new.")

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield an edit that does nothing, and names that two of its lists give."""
        if not any(table.get(key) for key in ("drop", "replace", "add")):
            yield Fault((), "no-edit", "edits nothing", "say what to do: `drop`, `replace` or `add`")
        seen: dict[str, str] = {}
        for key in ("drop", "replace", "add"):
            for place, text in strings(table, key):
                name = required(text)
                if name and seen.setdefault(name, key) != key:
                    message = f"`{name}` stands in `{seen[name]}` too"
                    yield Fault((key, place), "duplicate", message, "say once what becomes of it")


class Python(Section):
    """Where packages come from, for which platforms, and edits of their metadata."""

    index: IndexURL | None = Field(
        default=None,
        description="The index that serves all packages but those assigned to others; by default that of uv.",
        examples=["https://packages.example/simple"],
    )
    upload_times: bool = Field(
        default=True,
        description="Whether `index` tells when files were uploaded; if not, `exclude-newer` admits those files.",
    )
    exclude_newer: Moment | None = Field(
        default=None,
        description="Files that were uploaded to an index then or later are not there (RFC 3339).",
        examples=["2026-01-31T00:00:00Z"],
    )
    without_upload_times: Distributions = Field(
        default=(),
        description="Packages whose files `exclude-newer` admits where nobody tells when they were uploaded.",
        examples=[["jaxlib"]],
    )
    find_links: UniqueArray[Folder] = Field(
        default=(),
        description="Folders of wheels that are added to what indexes serve, whenever they were made.",
        examples=[["wheels"]],
    )
    platforms: UniqueArray[Platform] = Field(
        default=(),
        description="The platforms that environments are locked for.",
        examples=[["manylinux_2_34_x86_64", "macosx_14_0_arm64"]],
    )
    versions: UniqueArray[PythonVersion] = Field(
        default=(),
        description="The versions of Python that environments are locked for where they name none.",
        examples=[["3.11", "3.12"]],
    )
    policy: Literal["minimal", "base-wins", "strict"] = Field(
        default="minimal",
        description="Who gives way where environments cannot agree: whoever has to so that the fewest packages differ, "
        "never one for those that extend it, or nobody, which makes it an error.",
    )
    may_differ: Distributions = Field(
        default=(),
        description="Packages that may differ between environments rather than be older for the sake of another.",
        examples=[["numpy"]],
    )
    indexes: Array[Index] = Field(default=(), description="Further indexes, each with the packages it may serve.")
    edits: Array[Edit] = Field(default=(), description="Edits of packages' metadata.")

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield names and packages that two indexes claim, and requirements that two edits are about."""
        names: dict[str, str] = {}
        owners: dict[str, object] = {}
        for number, index in tables(table, "indexes"):
            name = index.get("name")
            if isinstance(name, str):
                if name.lower() in names:
                    yield twice(("indexes", number, "name"), name, names[name.lower()])
                names.setdefault(name.lower(), name)
            yield from _claimed_twice(number, index, owners)
        yield from _edited_twice(table)


def _claimed_twice(number: str | int, index: Mapping[str, object], owners: dict[str, object]) -> Iterator[Fault]:
    for place, package in strings(index, "packages"):
        owner = owners.setdefault(canonicalize_name(package), number)
        if owner != number:
            message = f"`{shown(package)}` is assigned to `python.indexes[{owner}]` as well"
            hint = "assign it to one index: whoever can upload to the other could replace it"
            yield Fault(("indexes", number, "packages", place), "duplicate", message, hint)


def _edited_twice(table: Mapping[str, object]) -> Iterator[Fault]:
    seen: dict[tuple[str, str], object] = {}
    for number, edit in tables(table, "edits"):
        package = edit.get("package")
        for key in ("drop", "replace", "add") if isinstance(package, str) else ():
            for place, text in strings(edit, key):
                name = required(text)
                first = seen.setdefault((canonicalize_name(str(package)), name), number)
                if name and first != number:
                    message = f"`python.edits[{first}]` is about `{name}` of this package too"
                    yield Fault(("edits", number, key, place), "duplicate", message, "make them one edit")
