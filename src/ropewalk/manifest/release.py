"""[release]: where a release goes, who has to agree, and how it is tried."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ropewalk.manifest.faults import Fault, complaint, strings, suggestion
from ropewalk.manifest.fields import (
    Array,
    Distribution,
    Distributions,
    Label,
    Line,
    Table,
    UniqueArray,
    UploadURL,
    Variable,
)
from ropewalk.manifest.section import Section
from ropewalk.manifest.words import shown

WELL_KNOWN = ("pypi", "testpypi")
"""Indexes whose URLs uv knows; a manifest may only add credentials."""

_GITHUB = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}/[A-Za-z0-9_.-]{1,100}")


def _github(value: str) -> str:
    if not _GITHUB.fullmatch(value):
        hint = "write `OWNER/NAME`, without a host"
        raise complaint("github", f"`{shown(value)}` is not a repository of GitHub", hint)
    return value


class UploadIndex(Section):
    """An index that a release goes to, and the variables that hold its credentials; none for trusted publishing."""

    upload_url: UploadURL | None = Field(default=None, description="Where files are sent: https, without credentials.")
    simple_url: UploadURL | None = Field(
        default=None, description="Its simple API, from which every file is confirmed."
    )
    username_env: Variable | None = Field(default=None, description="The variable that holds the user's name.")
    password_env: Variable | None = Field(default=None, description="The variable that holds the password.")
    token_env: Variable | None = Field(
        default=None, description="The variable that holds a token, in place of both.", examples=["PYPI_TOKEN"]
    )

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield credentials that are half there, or there in two ways."""
        names = {key for key in ("username-env", "password-env", "token-env") if key in table}
        if names not in (set(), {"token-env"}, {"username-env", "password-env"}):
            hint = "name `token-env` alone, or `username-env` and `password-env`"
            yield Fault((), "half-credentials", "the credentials are not one token, or a user and a password", hint)


class ReleaseProject(Section):
    """The project that the indexes must know, and its owner there."""

    name: Distribution = Field(description="The project's name.", examples=["kumo-engine"])
    owner: Line | None = Field(default=None, description="Its owner.", examples=["NVIDIA"])


class Smoke(Section):
    """A command that must succeed once the released wheel is installed by itself."""

    extras: Distributions = Field(default=(), description="The extras to install.", examples=[["snowflake"]])
    run: Line = Field(description="The command.", examples=["python -c 'import kumo.engine'"])


class Release(Section):
    """Where a release goes, who has to agree, and how it is tried."""

    indexes: UniqueArray[Label] = Field(
        default=(), description="Names of [release.index.NAME], pypi or testpypi; in the order of uploading."
    )
    index: Table[Label, UploadIndex] = Field(
        default_factory=dict, validate_default=True, description="Indexes by name."
    )
    project: ReleaseProject | None = Field(default=None, description="The project that the indexes must know.")
    github: Annotated[Line, AfterValidator(_github)] | None = Field(
        default=None,
        description="The repository whose releases the files are attached to.",
        examples=["NVIDIA/kumo-engine"],
    )
    approval: Literal["required", "none"] = Field(
        default="required", description="Whether a person has to approve the plan before anything is published."
    )
    smoke: Array[Smoke] = Field(default=(), description="Commands that try the released wheel.")

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield indexes that are not there, and those without their URLs."""
        index = table.get("index")
        described = index if isinstance(index, Mapping) else {}
        for place, name in strings(table, "indexes"):
            if name not in described and name not in WELL_KNOWN:
                hint = f"add `[release.index.{shown(name)}]`; " + suggestion(name, {*described, *WELL_KNOWN}, "indexes")
                yield Fault(("indexes", place), "unknown-name", f"there is no index `{shown(name)}`", hint)
        for name, settings in described.items():
            if isinstance(settings, Mapping):
                yield from _url_faults(name, settings)


def _url_faults(name: str, settings: Mapping[str, object]) -> Iterator[Fault]:
    for key in ("upload-url", "simple-url"):
        if name in WELL_KNOWN and key in settings:
            hint = "take it out, or call your index by another name"
            yield Fault(("index", name, key), "well-known-index", f"the URLs of `{name}` are known", hint)
        elif name not in WELL_KNOWN and key not in settings:
            hint = f'write `{key} = "https://…"`'
            yield Fault(("index", name), "missing-key", f"the key `{key}` is missing", hint)
