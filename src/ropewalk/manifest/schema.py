"""`ropewalk.toml` as one value."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from packaging.utils import canonicalize_name
from pydantic import Field

from ropewalk.manifest.bundle import Bundle
from ropewalk.manifest.environments import Environment, environment_faults
from ropewalk.manifest.faults import Fault, also, strings, suggestion, tables
from ropewalk.manifest.fields import Distribution, Label, Table, unique
from ropewalk.manifest.licenses import Licenses
from ropewalk.manifest.python import Edit, Index, Python
from ropewalk.manifest.release import Release, ReleaseProject, Smoke, UploadIndex
from ropewalk.manifest.section import Section
from ropewalk.manifest.sources import Patch, Source
from ropewalk.manifest.system import System
from ropewalk.manifest.version import Stamp, Version
from ropewalk.manifest.words import shown

__all__ = [
    "Bundle",
    "Edit",
    "Environment",
    "Index",
    "Licenses",
    "Manifest",
    "Patch",
    "Project",
    "Python",
    "Release",
    "ReleaseProject",
    "Smoke",
    "Source",
    "Stamp",
    "System",
    "UploadIndex",
    "Version",
]


class Project(Section):
    """What the manifest is about."""

    name: Distribution = Field(description="The project's name.", examples=["kumo-engine"])


class Manifest(Section):
    """A software ecosystem: its sources, environments, bundle and releases. Every table is optional."""

    project: Project | None = Field(default=None, description="What the manifest is about.")
    sources: Annotated[Table[Label, Source], also(unique(str.lower))] = Field(
        default_factory=dict, validate_default=True, description="Repositories by name."
    )
    environments: Annotated[Table[Label, Environment], also(unique(canonicalize_name)), also(environment_faults)] = (
        Field(
            default_factory=dict,
            validate_default=True,
            description="Sets of packages that are installed together, by name.",
        )
    )
    python: Python | None = Field(default=None, description="Where packages come from.")
    system: System | None = Field(default=None, description="The operating system below the environments.")
    bundle: Bundle | None = Field(default=None, description="Which component wheels become one wheel.")
    version: Version | None = Field(default=None, description="Where the version is written.")
    licenses: Licenses | None = Field(default=None, description="Which licences are accepted.")
    release: Release | None = Field(default=None, description="Where a release goes.")

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield what two tables contradict each other about."""
        yield from _packages_twice(table)
        yield from _unknown_extras(table)

    def commits(self) -> dict[str, str]:
        """Return the commit of each distribution whose source tracks a full commit id."""
        return {name: source.commit for source in self.sources.values() if source.commit for name in source.packages}


def _packages_twice(table: Mapping[str, object]) -> Iterator[Fault]:
    owners: dict[str, object] = {}
    for source, settings in tables(table, "sources"):
        packages = settings.get("packages")
        for package in packages if isinstance(packages, Mapping) else ():
            owner = owners.setdefault(canonicalize_name(package), source)
            if owner != source:
                message = f"`{shown(package)}` comes from `sources.{shown(str(owner))}` as well"
                yield Fault(("sources", source, "packages", package), "duplicate", message, "let one source bring it")


def _unknown_extras(table: Mapping[str, object]) -> Iterator[Fault]:
    bundle = table.get("bundle")
    extras = bundle.get("extras") if isinstance(bundle, Mapping) else None
    if not isinstance(extras, Mapping):
        return  # the head component's own extras, which only its wheel tells
    known = {canonicalize_name(name) for name in extras}
    for number, smoke in tables(table.get("release"), "smoke"):
        for place, name in strings(smoke, "extras"):
            if canonicalize_name(name) not in known:
                hint = suggestion(name, known, "extras of the bundle")
                path = ("release", "smoke", number, "extras", place)
                yield Fault(path, "unknown-name", f"the bundle has no extra `{shown(name)}`", hint)
