"""[system]: the operating system below the environments, as a container image."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from ropewalk.manifest.faults import also, complaint
from ropewalk.manifest.fields import Array, Line, unique
from ropewalk.manifest.section import Section
from ropewalk.manifest.words import shown

# https://github.com/distribution/reference/blob/main/reference.go, without the corners of its host names.
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::\d{1,5})?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
# Debian Policy, 5.6.1, 5.6.8 and 5.6.12, as apt-get(8) takes them: name[:architecture][=version].
_APT = re.compile(r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?(?:=[A-Za-z0-9.+:~-]+)?")


def _image(value: str) -> str:
    if not _IMAGE.fullmatch(value):
        hint = "write it like `debian:bookworm`, with `@sha256:…` behind it to fix it"
        raise complaint("image", f"`{shown(value)}` is not a container image", hint)
    return value


def _apt(value: str) -> str:
    if not _APT.fullmatch(value):
        hint = "write a name of Debian, in small letters: `libopenblas0`, or `git=1:2.39.5-0+deb12u2`"
        raise complaint("apt", f"`{shown(value)}` is not an apt package", hint)
    return value


def _apt_name(value: str) -> str:
    return value.partition("=")[0]


class System(Section):
    """The operating system below the environments."""

    image: Annotated[Line, AfterValidator(_image)] | None = Field(
        default=None, description="The container image that is built upon.", examples=["debian:bookworm"]
    )
    apt: Annotated[Array[Annotated[Line, AfterValidator(_apt)]], also(unique(_apt_name))] = Field(
        default=(), description="Packages of Debian or Ubuntu.", examples=[["git", "libopenblas0"]]
    )
