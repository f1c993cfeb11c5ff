"""The commands that work on wheels: bundle, split, check, explain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ropewalk.cli.output import print_result

if TYPE_CHECKING:
    import argparse

    from ropewalk.bundling.explain import Explanation

FOUND_SOMETHING = 1


def run_bundle(options: argparse.Namespace) -> int:
    """Lay a bundle; its path goes to stdout."""
    from ropewalk.bundling.bundle import bundle  # noqa: PLC0415
    from ropewalk.bundling.choose import Wishes  # noqa: PLC0415

    wishes = Wishes(
        name=options.name,
        external=options.external,
        identity=options.identity,
        allow_direct_urls=options.allow_direct_urls,
        platform=options.platform,
        commits=dict(options.commit),
        output=options.output,
    )
    bundled = bundle(options.wheels, manifest=options.manifest, wishes=wishes, jobs=options.jobs)
    if bundled.findings:
        from ropewalk.report.terminal import render_findings  # noqa: PLC0415

        sys.stderr.write(render_findings(bundled.findings))
    print_result(bundled, options, f"{bundled.path}\n")
    return 0


def run_split(options: argparse.Namespace) -> int:
    """Split a bundle; the paths of the components go to stdout."""
    from ropewalk.bundling.split import split  # noqa: PLC0415

    separated = split(options.wheel, output=options.output, jobs=options.jobs)
    print_result(separated, options, "".join(f"{one.path}\n" for one in separated))
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Check wheels; what is wrong with them goes to stdout."""
    from ropewalk.checks.run import check  # noqa: PLC0415
    from ropewalk.report.terminal import render_report  # noqa: PLC0415

    reports = [check(path, jobs=options.jobs, only=options.only) for path in options.wheels]
    print_result(reports, options, "".join(map(render_report, reports)))
    return 0 if all(report.passed for report in reports) else FOUND_SOMETHING


def run_explain(options: argparse.Namespace) -> int:
    """Explain a file of a bundle."""
    from ropewalk.bundling.explain import explain  # noqa: PLC0415

    explanation = explain(options.wheel, options.path)
    print_result(explanation, options, _explained(explanation))
    return 0


def _explained(explanation: Explanation) -> str:
    from ropewalk.report.terminal import visible  # noqa: PLC0415

    lines = [f"{explanation.path} ({explanation.size} bytes)"]
    for source in explanation.sources:
        role = f"{source.role} of {', '.join(source.extras)}" if source.extras else source.role
        lines.append(f"  from {source.name} {source.version} ({role})")
        lines.append(f"    commit {source.commit or 'not recorded'}")
        lines.append(f"    file   {source.path}")
        lines.append(f"    wheel  {source.wheel} (sha256 {source.sha256})")
    if not explanation.sources:
        lines.append("  written when the bundle was laid, from all of its components")
    return visible("\n".join(lines) + "\n")
