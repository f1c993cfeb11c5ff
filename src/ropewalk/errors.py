"""The one family of exceptions that ropewalk raises; each class carries its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.finding import Finding


class RopewalkError(Exception):
    """A failure that a person can act on.

    `message` says what failed, `hint` what to do about it, `findings` holds every single fault where there
    are several.
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str = "", findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.findings = tuple(findings)


class UsageError(RopewalkError):
    """The command line, the manifest, the lock or an input is at fault."""

    exit_code = 2


class ToolError(RopewalkError):
    """An outside tool, the operating system or the network failed."""

    exit_code = 3


class IntegrityError(RopewalkError):
    """Bytes are not the ones that were recorded."""

    exit_code = 4
