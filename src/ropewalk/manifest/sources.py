"""[sources.NAME]: repositories, what is followed in them, and the patches that go on top."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, PlainValidator, TypeAdapter, WithJsonSchema

from ropewalk.manifest.faults import Fault, complaint, strings, tables
from ropewalk.manifest.fields import (
    Array,
    DistributionTable,
    Folder,
    Line,
    Ref,
    Repository,
    UniqueArray,
    twice,
)
from ropewalk.manifest.paths import file
from ropewalk.manifest.refs import COMMIT, ref
from ropewalk.manifest.section import Section


class PatchForm(StrEnum):
    """Where a patch comes from."""

    REF = "ref"
    MIRROR = "mirror"
    FILE = "file"
    RANGE = "range"


class PatchOrigin(NamedTuple):
    """Where a patch comes from: a ref of the source or of a mirror, a file, or the commits after `base`."""

    form: PatchForm
    place: str
    base: str = ""


def patch_origin(text: str) -> PatchOrigin:
    """Return where a patch comes from: `mirror:<ref>`, `file:<path>`, `a..b`, or a ref of the source."""
    if text.startswith("mirror:"):
        return PatchOrigin(PatchForm.MIRROR, ref(text.removeprefix("mirror:")))
    if text.startswith("file:"):
        return PatchOrigin(PatchForm.FILE, file(text.removeprefix("file:")))
    base, dots, tip = text.partition("..")
    if not dots:
        return PatchOrigin(PatchForm.REF, ref(text))
    if tip.startswith("."):
        raise complaint(
            "ref", "three dots stand for no list of commits", "write two: `a..b`, the commits after a up to b"
        )
    return PatchOrigin(PatchForm.RANGE, ref(tip), ref(base))


def _patch_text(text: str) -> str:
    patch_origin(text)
    return text


_FOLDERS = TypeAdapter(UniqueArray[Folder])


def _submodules(value: object) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return _FOLDERS.validate_python(value)
    raise complaint("type", "must be true, false or an array of paths", "true fetches all of them")


Submodules = Annotated[
    bool | tuple[str, ...],
    PlainValidator(_submodules),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Patch(Section):
    """A change that goes on top of a source, in the order of the manifest."""

    from_: Annotated[Line, AfterValidator(_patch_text)] = Field(
        description="A ref of the source; mirror:<ref>; file:<path>; or the commits a..b.", examples=["pull/3340/head"]
    )
    why: Line = Field(description="What the patch is for.", examples=["sharding annotations"])
    when_merged: Literal["drop", "keep", "fail"] = Field(
        default="fail", description="What to do once the source has the change by itself."
    )

    @property
    def origin(self) -> PatchOrigin:
        """`from`, in its parts."""
        return patch_origin(self.from_)


class Source(Section):
    """A repository."""

    git: Repository = Field(
        description="The URL of the repository: https, ssh or file, without credentials.",
        examples=["https://github.com/google/flax.git"],
    )
    track: Ref = Field(
        description="What to follow: a branch, a tag, a ref that starts with refs/, or a full commit id.",
        examples=["main"],
    )
    mirrors: UniqueArray[Repository] = Field(default=(), description="URLs of the same repository elsewhere.")
    submodules: Submodules = Field(default=True, description="Whether to fetch submodules: all, none, or these paths.")
    lfs: bool = Field(default=False, description="Whether to fetch the files that Git LFS keeps elsewhere.")
    packages: DistributionTable[Folder] = Field(
        default_factory=dict, validate_default=True, description="The distributions it holds, and their folders."
    )
    patches: Array[Patch] = Field(default=(), description="Changes that go on top, in this order.")

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield mirrors that are the source itself, and patches of mirrors that there are not."""
        for place, url in strings(table, "mirrors"):
            if url == table.get("git"):
                yield twice(("mirrors", place), url, url)
        for number, patch in tables(table, "patches"):
            text = patch.get("from")
            if isinstance(text, str) and text.startswith("mirror:") and not table.get("mirrors"):
                hint = 'name one: `mirrors = ["https://…"]`'
                yield Fault(("patches", number, "from"), "no-mirror", "the source has no mirror", hint)

    @property
    def commit(self) -> str | None:
        """The full commit id that is tracked, None where a branch or tag is."""
        return self.track if COMMIT.fullmatch(self.track) else None
