"""The one family of exceptions."""

from __future__ import annotations

import pytest

from ropewalk.errors import IntegrityError, RopewalkError, ToolError, UsageError
from ropewalk.finding import Finding


@pytest.mark.parametrize(("kind", "code"), [(RopewalkError, 70), (UsageError, 2), (ToolError, 3), (IntegrityError, 4)])
def test_each_has_its_exit_code(kind: type[RopewalkError], code: int) -> None:
    error = kind("it failed")
    assert isinstance(error, RopewalkError)
    assert (error.exit_code, str(error), error.message, error.hint, error.findings) == (
        code,
        "it failed",
        "it failed",
        "",
        (),
    )


def test_what_to_do_and_every_fault_are_data() -> None:
    finding = Finding(rule="a/b", message="is wrong")
    error = UsageError("it failed", hint="try again", findings=[finding])
    assert (error.hint, error.findings) == ("try again", (finding,))
