"""[bundle]: which component wheels become one wheel, and how."""

from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name
from pydantic import Field

from ropewalk.manifest.faults import Fault, strings
from ropewalk.manifest.fields import (
    Distribution,
    Distributions,
    DistributionTable,
    Folder,
    Platform,
    Requirements,
    SomeDistributions,
)
from ropewalk.manifest.section import Section
from ropewalk.manifest.words import shown


class Bundle(Section):
    """Which component wheels become one wheel, and how."""

    name: Distribution = Field(
        description="The bundle's name, and that of the head component: its README, summary, scripts and extras lead.",
        examples=["kumo-engine"],
    )
    components: SomeDistributions = Field(
        description="The distributions that go into it; the head need not be among them.",
        examples=[["kumo-api", "kumo-core"]],
    )
    external: Distributions = Field(
        default=(), description="Distributions that never go into it, and stay ordinary requirements."
    )
    extras: DistributionTable[Requirements] | None = Field(
        default=None,
        description="The bundle's extras and what each asks for; by default those of the head component.",
        examples=[{"snowflake": ["kumo-snowflake"]}],
    )
    wheels: Folder = Field(default="wheels", description="The folder of the component wheels.")
    output: Folder = Field(default="dist", description="The folder that the bundle is written to.")
    identity: bool = Field(
        default=False, description="Whether each component stays known to importlib.metadata once installed."
    )
    allow_direct_urls: bool = Field(default=False, description="Whether a requirement may name a URL.")
    platform: Platform | None = Field(
        default=None,
        description="The platform of the bundle's tag; by default what its components have in common.",
        examples=["manylinux_2_31_x86_64"],
    )

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        """Yield distributions that are inside and outside at once."""
        inside = {canonicalize_name(name) for _, name in strings(table, "components")}
        head = table.get("name")
        for place, name in strings(table, "external"):
            path = ("external", place)
            if canonicalize_name(name) in inside:
                message, hint = f"`{shown(name)}` is one of `components` too", "take it off one of the two"
                yield Fault(path, "inside-and-outside", message, hint)
            elif isinstance(head, str) and canonicalize_name(name) == canonicalize_name(head):
                message, hint = f"`{shown(name)}` is the bundle itself", "take it off `external`"
                yield Fault(path, "inside-and-outside", message, hint)
