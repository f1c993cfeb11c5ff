"""Measure `ropewalk freeze` against what shell scripts do, with a server that takes its time.

    python3 run.py exec python benchmarks/freeze.py [--rounds N] [--delay SECONDS] [SDISTS]

Twenty repositories are made, each from several releases of a package on the index, a commit a release, or from a
folder of sdists. They are served by `git http-backend` on the loopback interface, every request after a delay.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from repositories import Repository, make_repository  # noqa: E402
from serving import GitServer, serving  # noqa: E402

ROPEWALK = str(Path(sys.executable).with_name("ropewalk"))
RELEASES = {
    "attrs": ["22.1.0", "23.1.0", "24.2.0"],
    "babel": ["2.12.1", "2.14.0", "2.16.0"],
    "click": ["8.0.4", "8.1.3", "8.1.7"],
    "coverage": ["7.2.7", "7.4.0", "7.6.0"],
    "docutils": ["0.19", "0.20.1", "0.21.2"],
    "flask": ["2.2.5", "2.3.3", "3.0.3"],
    "fsspec": ["2023.6.0", "2024.2.0", "2024.9.0"],
    "idna": ["3.4", "3.7", "3.10"],
    "jinja2": ["3.1.2", "3.1.3", "3.1.4"],
    "markdown": ["3.4.4", "3.5.2", "3.7"],
    "mpmath": ["1.1.0", "1.2.1", "1.3.0"],
    "networkx": ["2.8.8", "3.1", "3.3"],
    "packaging": ["23.2", "24.1", "25.0"],
    "pluggy": ["1.2.0", "1.4.0", "1.5.0"],
    "pygments": ["2.15.1", "2.17.2", "2.18.0"],
    "pytest": ["7.4.4", "8.1.1", "8.3.3"],
    "requests": ["2.28.2", "2.31.0", "2.32.3"],
    "sphinx": ["6.2.1", "7.2.6", "7.4.7"],
    "sympy": ["1.11.1", "1.12", "1.13.3"],
    "werkzeug": ["2.3.8", "3.0.1", "3.0.4"],
}


def fetch(folder: Path) -> None:
    """Download the sdists, each once."""
    for name, versions in RELEASES.items():
        for version in versions:
            if not list(folder.glob(f"{name}-{version}.tar.gz")) + list(
                folder.glob(f"{name.capitalize()}-{version}.tar.gz")
            ):
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
                subprocess.run(
                    [*command, "--no-binary=:all:", "--dest", str(folder), f"{name}=={version}"],
                    check=False,
                    stderr=subprocess.DEVNULL,
                )


def make_repositories(sdists: Path, root: Path) -> list[Repository]:
    """Make a repository of each package, a commit a release, the last one with a patch of its own beside it."""
    repositories = []
    for name in RELEASES:
        archives = sorted(path for path in sdists.iterdir() if path.name.lower().startswith(f"{name}-"))
        if not archives:
            continue
        repository = make_repository(root / name)
        for archive in archives:
            for path in repository.path.iterdir():
                if path.name != ".git":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            with tarfile.open(archive) as opened:
                opened.extractall(repository.path, filter="data")
            (inner,) = [path for path in repository.path.iterdir() if path.name != ".git"]
            for path in inner.iterdir():
                path.rename(repository.path / path.name)
            inner.rmdir()
            repository.commit(archive.name)
        repository.git("branch", "pr", "HEAD~1" if len(archives) > 1 else "HEAD")
        repository.git("checkout", "--quiet", "pr")
        repository.commit("a patch", {"PATCHED.txt": "patched\n"})
        repository.git("update-ref", "refs/pull/1/head", "HEAD")
        repository.git("checkout", "--quiet", "main")
        repositories.append(repository)
    return repositories


def timed(command: list[str], cwd: Path, environ: dict[str, str] | None = None) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(environ or {})}, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr.decode()}")
    return time.perf_counter() - began


def shown(times: list[float]) -> str:
    return f"{statistics.median(times) * 1000:8.1f} ms   {min(times) * 1000:.1f} to {max(times) * 1000:.1f}"


def refs(server: GitServer, repositories: list[Repository], world: Path, rounds: int) -> None:
    """All refs: `git ls-remote` one after the other, against a freeze in which nothing has moved."""
    text = "".join(
        f'[sources.{one.path.name}]\ngit = "{server.url}/{one.path.name}/.git"\ntrack = "main"\n'
        for one in repositories
    )
    (world / "ropewalk.toml").write_text(text)
    timed([ROPEWALK, "freeze", "--cache", "cache"], world)
    sequential, frozen, version = [], [], []
    for _ in range(rounds):
        urls = [f"{server.url}/{one.path.name}/.git" for one in repositories]
        sequential.append(sum(timed(["git", "ls-remote", url, "refs/heads/main"], world) for url in urls))
        server.requests.clear()
        frozen.append(timed([ROPEWALK, "freeze", "--cache", "cache"], world))
        version.append(timed([sys.executable, "-c", "pass"], world))
    ratio = statistics.median(frozen) / statistics.median(sequential)
    print(f"  git ls-remote x{len(repositories)}, in turn   {shown(sequential)}")
    print(f"  ropewalk freeze, unchanged    {shown(frozen)}   ({len(server.requests)} requests)")
    print(f"  = ratio {ratio:.3f} (at most 0.125: {'met' if ratio <= 0.125 else 'NOT met'})")
    own = statistics.median(frozen) - server.delay
    print(f"  = own work {own:.2f} s beyond one round of requests (at most 1: {'met' if own <= 1 else 'NOT met'})")


def patched(server: GitServer, repositories: list[Repository], scratch: Path, rounds: int) -> None:
    """One repository with a patch: bytes and time against a full clone."""
    for repository in sorted(repositories, key=lambda one: one.path.name)[:]:
        if repository.path.name not in ("sympy", "sphinx", "networkx"):
            continue
        url = f"{server.url}/{repository.path.name}/.git"
        clones, warm, clone_bytes, cold_bytes = [], [], 0, 0
        for number in range(rounds):
            server.sent = 0
            target = scratch / "clone"
            clones.append(timed(["git", "clone", "--quiet", "--mirror", url, str(target)], scratch))
            clone_bytes = server.sent
            shutil.rmtree(target)
            world = scratch / "world"
            shutil.rmtree(world, ignore_errors=True)
            world.mkdir()
            (world / "ropewalk.toml").write_text(
                f'[sources.{repository.path.name}]\ngit = "{url}"\ntrack = "main"\n'
                f'[[sources.{repository.path.name}.patches]]\nfrom = "pull/1/head"\nwhy = "x"\n'
            )
            server.sent = 0
            timed([ROPEWALK, "freeze", "--cache", "cache"], world)
            cold_bytes = server.sent
            repository.git("checkout", "--quiet", "pr")
            repository.commit(f"more {number}", {"PATCHED.txt": f"patched {number}\n"})
            repository.git("update-ref", "refs/pull/1/head", "HEAD")
            repository.git("checkout", "--quiet", "main")
            warm.append(timed([ROPEWALK, "freeze", "--cache", "cache"], world))
        share = cold_bytes / clone_bytes
        ratio = statistics.median(warm) / statistics.median(clones)
        name = repository.path.name
        print(f"  {name}: clone {clone_bytes:,} bytes, patched freeze {cold_bytes:,}: {share:.3f} (at most 0.1)")
        print(f"    full clone             {shown(clones)}")
        print(f"    freeze of a moved tip  {shown(warm)}: {ratio:.3f} (at most 0.05)")


def main() -> None:
    """Run the measurements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sdists", type=Path, nargs="?", metavar="SDISTS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.08, help="seconds before every answer")
    options = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="ropewalk-benchmark-") as name:
        scratch = Path(name)
        sdists = options.sdists or scratch / "sdists"
        sdists.mkdir(exist_ok=True)
        fetch(sdists)
        repositories = make_repositories(sdists, scratch / "repositories")
        world = scratch / "all"
        world.mkdir()
        with serving(scratch / "repositories", options.delay) as server:
            print(f"\nrefs: {(refs.__doc__ or '').splitlines()[0]}")
            refs(server, repositories, world, options.rounds)
            print(f"\npatched: {(patched.__doc__ or '').splitlines()[0]}")
            patched(server, repositories, scratch, options.rounds)


if __name__ == "__main__":
    main()
