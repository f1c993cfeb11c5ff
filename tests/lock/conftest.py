"""Fixtures of the tests of locks: those that freeze."""

from freeze.conftest import elsewhere, upstream, world

__all__ = ["elsewhere", "upstream", "world"]
