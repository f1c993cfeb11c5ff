"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import making

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


# A deadline measures the machine, not the code. In CI the same examples are tried each time, so that a red run means
# the change at hand.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Open the network to the tests that say they need it."""
    for item in items:
        if item.get_closest_marker("online"):
            item.add_marker(pytest.mark.enable_socket)


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[..., Path]:
    """Write a wheel into the test's own folder; the parameters are those of `making.make_wheel`."""
    return partial(making.make_wheel, tmp_path)
