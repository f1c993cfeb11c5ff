"""Freeze an ecosystem of repositories, and lay component wheels into one wheel that can be trusted byte by byte.

The functions behind the commands, each loaded when it is first used (PEP 562).
"""

from __future__ import annotations

from ropewalk._version import __version__

TYPE_CHECKING = False  # importing `typing` for it would double the time of `import ropewalk`

if TYPE_CHECKING:
    from ropewalk.bundling.bundle import bundle
    from ropewalk.bundling.choose import Wishes
    from ropewalk.bundling.explain import explain
    from ropewalk.bundling.split import split
    from ropewalk.checks.run import check
    from ropewalk.freezing.freeze import Order, freeze
    from ropewalk.freezing.verify import verify
    from ropewalk.lock.diff import diff
    from ropewalk.lock.diff_history import kept_history
    from ropewalk.lock.named import named_state
    from ropewalk.rebuild.checkout import checkout

__all__ = [
    "Order",
    "Wishes",
    "__version__",
    "bundle",
    "check",
    "checkout",
    "diff",
    "explain",
    "freeze",
    "kept_history",
    "named_state",
    "split",
    "verify",
]

_HOMES = {
    "Order": "ropewalk.freezing.freeze",
    "Wishes": "ropewalk.bundling.choose",
    "bundle": "ropewalk.bundling.bundle",
    "check": "ropewalk.checks.run",
    "checkout": "ropewalk.rebuild.checkout",
    "diff": "ropewalk.lock.diff",
    "explain": "ropewalk.bundling.explain",
    "freeze": "ropewalk.freezing.freeze",
    "kept_history": "ropewalk.lock.diff_history",
    "named_state": "ropewalk.lock.named",
    "split": "ropewalk.bundling.split",
    "verify": "ropewalk.freezing.verify",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module `ropewalk` has no attribute `{name}`")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
