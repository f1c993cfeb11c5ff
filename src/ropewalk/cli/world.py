"""The commands that work on a whole ecosystem: freeze, checkout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

DEGRADED = 1


def run_freeze(options: argparse.Namespace) -> int:
    """Freeze the sources of a manifest; the state's id goes to stdout."""
    from ropewalk.freezing.freeze import Order, freeze  # noqa: PLC0415
    from ropewalk.report.terminal import render_findings, visible  # noqa: PLC0415

    order = Order(
        only=tuple(options.only),
        upgrade=tuple(options.upgrade),
        stay=options.stay,
        keep_going=options.keep_going,
        archive=options.archive,
        dry_run=options.dry_run,
    )
    frozen = freeze(options.manifest, lock=options.lock, cache=options.cache, order=order)
    sys.stderr.write(render_findings(frozen.findings))
    by_name = {source.name: source for source in frozen.state.sources}
    for name in frozen.moved:
        source = by_name.get(name)
        sys.stderr.write(visible(f"{name}: {source.commit} ({source.ref})\n" if source else f"{name}: gone\n"))
    if not frozen.changed:
        sys.stderr.write("nothing has moved\n")
    result = {
        "id": frozen.id,
        "lock": frozen.lock,
        "changed": frozen.changed,
        "moved": frozen.moved,
        "degraded": frozen.state.degraded,
        "sources": frozen.state.sources,
        "findings": frozen.findings,
    }
    print_result(result, options, f"{frozen.id}\n")
    return DEGRADED if frozen.state.degraded else 0


def run_checkout(options: argparse.Namespace) -> int:
    """Check frozen sources out; their folders go to stdout."""
    from ropewalk.rebuild.checkout import checkout  # noqa: PLC0415

    done = checkout(options.names, into=options.into, lock=options.lock, cache=options.cache, offline=options.offline)
    print_result(done, options, "".join(f"{one.path}\n" for one in done))
    return 0
