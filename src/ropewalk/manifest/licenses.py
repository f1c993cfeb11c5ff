"""[licenses]: which licences a bundle may hold, and where their notices are."""

from typing import Annotated

from pydantic import Field

from ropewalk.manifest.faults import also
from ropewalk.manifest.fields import Array, File, Licence, unique
from ropewalk.manifest.section import Section


class Licenses(Section):
    """Which licences a bundle may hold, and where their notices are."""

    notices: File | None = Field(
        default=None, description="The file with the notices of third parties.", examples=["THIRD-PARTY.txt"]
    )
    allow: Annotated[Array[Licence], also(unique(str.lower))] = Field(
        default=(), description="SPDX expressions that are accepted.", examples=[["Apache-2.0", "MIT"]]
    )
