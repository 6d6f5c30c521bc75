"""Checks: the contracts of a module or a trained run, and whether this machine can do the work."""

import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.api.folders import find_model
from atento.api.run import Run
from atento.bundle import load_bundle
from atento.checks import Checked
from atento.checks import check as check_module
from atento.checks.runs import check_run
from atento.extras import EXTRAS, install_line, missing_packages
from atento.native.library import compiled
from atento.system import usable_cores
from atento.version import __version__
from atento.writing import write_atomically

LEAST_DISK_MB = 200
FAR_SLOWER = 2  # times: all threads against one
PACKAGES = ("torch", "numpy", "safetensors", "pydantic", "typer", "scikit-learn", "scipy", "rapidfuzz")


def check(subject: nn.Module | Run | str | Path, *, values: Tensor | None = None, causal: bool = False) -> Checked:
    """Every contract that applies: true when none is broken, printed as a table.

    subject: a run or its folder, or a module. A module of ours is known by its kind; any other is called as
        forward(values, valid) -> values.
    values: an example of what a module reads; None: random numbers of the width it reads.
    causal: whether no output may know later items.
    """
    if isinstance(subject, Run):
        return subject.check()
    if isinstance(subject, str | Path):
        return check_run(load_bundle(find_model(Path(subject)).folder))
    return check_module(subject, values=values, causal=causal)


class Probe(NamedTuple):
    """One thing a machine needs: whether it is in order (None: it works, but not well), what was found, and what would
    mend it.
    """

    name: str
    ok: bool | None
    found: str
    fix: str


def examine() -> list[Probe]:
    """Every probe of this machine."""
    return [
        probe_one("atento", lambda: (True, __version__), fix=""),
        probe_one("python", lambda: (True, platform.python_version()), fix=""),
        *(probe_one(name, partial(package, name), fix=f"pip install {name}") for name in PACKAGES),
        *(probe_one(f"extra {name}", partial(extra, name), fix="") for name in EXTRAS),
        probe_one("device", device, fix=""),
        probe_one("CPU", cpu, fix=""),
        probe_one("one thread against all", threads, fix="--set train.threads=1"),
        probe_one("C kernels", c_kernels, fix=""),
        probe_one("disk", disk, fix="free some space"),
        probe_one("atomic writes here", writing, fix="work in a folder you may write to"),
    ]


def probe_one(name: str, probe: Callable[[], tuple[bool | None, str]], *, fix: str) -> Probe:
    """Run one probe; a probe that fails is a finding, not a crash."""
    try:
        ok, found = probe()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here is what the user wants to hear
        ok, found = False, f"{type(error).__name__}: {error}"
    return Probe(name, ok, found, fix)


def package(name: str) -> tuple[bool, str]:
    """The installed version."""
    try:
        return True, version(name)
    except PackageNotFoundError:
        return False, "not installed"


def device() -> tuple[bool, str]:
    """What --device auto would take."""
    if torch.cuda.is_available():
        return True, f"cuda: {torch.cuda.get_device_name()}"
    return True, "cpu (no GPU seen)"


def cpu() -> tuple[bool, str]:
    """Cores this process may use."""
    return True, f"{usable_cores()} cores, {platform.machine()}"


def extra(name: str) -> tuple[bool | None, str]:
    """The packages that an extra adds, where they are installed; the work goes on without them."""
    if missing_packages(name):
        return None, f"not installed: {install_line(name)}"
    return True, ", ".join(f"{each} {package(each)[1]}" for each in EXTRAS[name].values())


def threads() -> tuple[bool | None, str]:
    """Matrix products per second with one thread and with all; not well where all are far slower than one."""
    before = torch.get_num_threads()
    rates = {}
    for count in dict.fromkeys((1, usable_cores())):
        torch.set_num_threads(count)
        matrix = torch.randn(256, 256)
        started, rounds = time.perf_counter(), 0
        while time.perf_counter() - started < 0.2:
            matrix @ matrix
            rounds += 1
        rates[count] = rounds * 2 * 256**3 / (time.perf_counter() - started) / 1e9
    torch.set_num_threads(before)
    return rated(rates)


def rated(rates: Mapping[int, float]) -> tuple[bool | None, str]:
    """What the speeds of one thread and of all say."""
    text = ", ".join(f"{count}: {rate:.0f} GFLOP/s" for count, rate in rates.items())
    slower = rates[1] / max(rates[max(rates)], 1e-9)
    if slower < FAR_SLOWER:
        return True, text
    return None, f"{text}: {max(rates)} threads are {slower:.0f} times slower; other work may hold the cores"


def c_kernels() -> tuple[bool | None, str]:
    """Whether a C compiler makes training on the CPU faster; the work goes on without one."""
    there, found = compiled()
    return there or None, found if there else f"{found}; torch computes the same, recurrent networks more slowly"


def disk() -> tuple[bool, str]:
    """Room in this folder."""
    free = shutil.disk_usage(Path.cwd()).free // 2**20
    return free >= LEAST_DISK_MB, f"{free:,} MB free"


def writing() -> tuple[bool, str]:
    """A checkpoint's way of writing, tried."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".doctor-") as folder:
        path = Path(folder) / "trial"
        write_atomically(path, b"whole")
        return path.read_bytes() == b"whole", "a file was written whole and read back"
