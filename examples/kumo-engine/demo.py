"""Bundle the ten components of kumo-engine and look at the result, one command after the other.

`python3 run.py demo` runs it. What it makes stays in wheels/ and dist/ beside it, neither under version control.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WHEELS = HERE / "wheels"
DIST = HERE / "dist"
MANIFEST = HERE / "ropewalk.toml"


def shown(path: Path) -> str:
    """The path as a person in the root of the checkout would write it."""
    return path.relative_to(ROOT).as_posix()


def run(*command: str) -> str:
    """Show a command, run it from the root of the checkout and return its stdout, which is shown too.

    The demo ends with the exit code of the first command that fails.
    """
    print(f"\n$ {shlex.join(command)}", flush=True)
    done = subprocess.run(
        [*program(command[0]), *command[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, end="", flush=True)
    if done.returncode != 0:
        print(f"error: `{command[0]}` ended with exit code {done.returncode}", file=sys.stderr)
        sys.exit(done.returncode)
    return done.stdout


def program(name: str) -> list[str]:
    """Where a command is: this interpreter, or this environment's `ropewalk`."""
    if name == "python":
        return [sys.executable]
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=os.pathsep.join([str(beside), os.environ.get("PATH", "")]))
    return [found] if found else [sys.executable, "-m", name]


def main() -> None:
    """The walk."""
    shutil.rmtree(DIST, ignore_errors=True)
    run("python", shown(HERE / "components.py"), shown(WHEELS))
    bundled = run("ropewalk", "bundle", "--manifest", shown(MANIFEST), "--output", shown(DIST))
    bundle = ROOT / bundled.strip()
    run("ropewalk", "check", shown(bundle))
    run("ropewalk", "explain", shown(bundle), "diskgraph/_c.abi3.so")
    run("ropewalk", "split", shown(bundle), "--output", shown(DIST / "components"))
    with bundle.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    print(f"\nbundle: {shown(bundle)}\nsha256: {digest}")


if __name__ == "__main__":
    main()
