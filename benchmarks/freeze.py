"""Measure `ropewalk freeze` against what shell scripts do, with a server that takes its time.

    python3 run.py exec python benchmarks/freeze.py [--rounds N] [--delay SECONDS] [SDISTS]

Twenty repositories are made, each from several releases of a package on the index, a commit a release, and packed as
servers keep them. They are served by `git http-backend` on the loopback interface, every request after a delay. The
sdists, some 450 MB, are downloaded into the folder SDISTS, by default one below the cache, and kept there.
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

from packaging.utils import canonicalize_name  # noqa: E402
from packaging.version import Version  # noqa: E402

from repositories import Repository, make_repository  # noqa: E402
from ropewalk.indexes.catalogue import open_catalogue  # noqa: E402
from ropewalk.indexes.places import Index, Places  # noqa: E402
from ropewalk.tools.files import sha256_of  # noqa: E402
from ropewalk.tools.objects import default_cache  # noqa: E402
from ropewalk.tools.simple_api import SimpleApi, index_of_machine  # noqa: E402
from serving import GitServer, serving  # noqa: E402

ROPEWALK = str(Path(sys.executable).with_name("ropewalk"))
LARGE = ("ansible", "networkx", "sphinx", "sympy")
RELEASES = {
    "ansible": ["10.1.0", "11.1.0", "12.1.0", "13.1.0", "14.1.0"],
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


def fetch(folder: Path) -> dict[str, list[Path]]:
    """Download the sdists, each once; return those of each package, oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Path]] = {}
    places = Places(default=Index(url=index_of_machine()))
    api = SimpleApi(cache=default_cache() / "indexes")
    with open_catalogue(places) as catalogue:
        for name, versions in RELEASES.items():
            releases = {Version(release.version): release for release in catalogue.releases(canonicalize_name(name))}
            for version in versions:
                (file, *_) = [one for one in releases[Version(version)].files if not one.is_wheel]
                target = folder / file.name
                if not target.exists() or sha256_of(target) != file.sha256:
                    api.download(file.url, target)
                found.setdefault(name, []).append(target)
    return found


def make_repositories(sdists: dict[str, list[Path]], root: Path) -> list[Repository]:
    """Make a repository of each package, a commit a release, the last one with a patch of its own beside it."""
    repositories = []
    for name, archives in sdists.items():
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
        repository.git("repack", "-adq", "--write-bitmap-index")
        propose(repository, "HEAD~1", 0)
        repositories.append(repository)
    return repositories


def propose(repository: Repository, parent: str, number: int) -> None:
    """Make a commit that changes a file, and the head of a pull request of it."""
    index = {"GIT_INDEX_FILE": str(repository.path / ".git" / "proposal")}
    git = ["git", "-C", str(repository.path)]
    environ = {**os.environ, **index}
    names = repository.git("ls-tree", "--name-only", parent).split()
    path = next(name for name in names if name.lower().startswith("readme"))
    text = repository.git("show", f"{parent}:{path}") + f"\nproposed {number}\n"
    blob = repository.git("hash-object", "-w", "--stdin", stdin=text.encode())
    subprocess.run([*git, "read-tree", parent], env=environ, check=True)
    subprocess.run([*git, "update-index", "--cacheinfo", f"100644,{blob},{path}"], env=environ, check=True)
    tree = subprocess.run([*git, "write-tree"], env=environ, check=True, capture_output=True, text=True).stdout.strip()
    commit = repository.git("commit-tree", "-p", parent, "-m", f"proposal {number}", tree)
    repository.git("update-ref", "refs/pull/1/head", commit)


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
    for repository in repositories:
        name = repository.path.name
        if name not in LARGE:
            continue
        url = f"{server.url}/{name}/.git"
        world = scratch / "world"
        shutil.rmtree(world, ignore_errors=True)
        world.mkdir()
        text = f'[sources.{name}]\ngit = "{url}"\ntrack = "main"\n'
        text += f'[[sources.{name}.patches]]\nfrom = "pull/1/head"\nwhy = "x"\n'
        (world / "ropewalk.toml").write_text(text)
        server.sent = 0
        cold = timed([ROPEWALK, "freeze", "--cache", "cache"], world)
        cold_bytes = server.sent
        clones, warm, requests = [], [], 0
        for number in range(rounds):
            server.sent = 0
            target = scratch / "clone"
            clones.append(timed(["git", "clone", "--quiet", url, str(target)], scratch))
            clone_bytes = server.sent
            shutil.rmtree(target)
            propose(repository, "HEAD~1", number + 1)
            server.requests.clear()
            warm.append(timed([ROPEWALK, "freeze", "--cache", "cache"], world))
            requests = len(server.requests)
        share = cold_bytes / clone_bytes
        ratio = statistics.median(warm) / statistics.median(clones)
        print(f"  {name}: clone {clone_bytes:,} bytes, patched freeze {cold_bytes:,}: {share:.3f} (at most 0.1)")
        print(f"    full clone             {shown(clones)}")
        print(f"    first freeze           {cold * 1000:8.1f} ms")
        print(f"    freeze of a moved tip  {shown(warm)}, {requests} requests: {ratio:.3f} (at most 0.05)")


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
        sdists = fetch(options.sdists or default_cache() / "benchmarks" / "sdists")
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
