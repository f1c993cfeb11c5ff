"""Fixtures of the tests of locks: those that freeze."""

from freezing.conftest import elsewhere, upstream, world

__all__ = ["elsewhere", "upstream", "world"]
