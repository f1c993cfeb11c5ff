"""The command that makes a first manifest."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

    from ropewalk.finding import Finding

SMALLEST = """\
# What this is about. docs/manifest.md describes every key.
[project]
name = "my-project"

# A repository to freeze: `ropewalk freeze`, `ropewalk checkout --into work`.
# [sources.flax]
# git = "https://github.com/google/flax.git"
# track = "main"
# [[sources.flax.patches]]
# from = "pull/3340/head"
# why = "sharding annotations"

# Component wheels to lay into one: `ropewalk bundle`.
# [bundle]
# name = "my-project"
# components = ["my-project", "my-core"]
"""


def run_init(options: argparse.Namespace) -> int:
    """Write a manifest, from nothing or from another tool's; its path goes to stdout."""
    from ropewalk.errors import UsageError  # noqa: PLC0415
    from ropewalk.report.terminal import render_findings  # noqa: PLC0415
    from ropewalk.tools.files import new_file  # noqa: PLC0415

    target = options.output
    if os.path.lexists(target):
        raise UsageError(f"`{target}` is there already", hint="name another file with `--output`")
    text = SMALLEST
    findings: tuple[Finding, ...] = ()
    if options.origin is not None:
        from ropewalk.manifest.importers.read import import_manifest  # noqa: PLC0415

        text, findings = import_manifest(options.origin, format_name=options.format or "", pin=options.pin)
    with new_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    sys.stderr.write(render_findings(findings))
    print_result({"manifest": target, "findings": findings}, options, f"{target}\n")
    return 0
