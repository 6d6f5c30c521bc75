"""Whether this machine can do the work."""

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from atento.bundle import write_atomically

LEAST_DISK_MB = 200
PACKAGES = ("torch", "numpy", "safetensors", "tokenizers", "pyarrow", "pydantic", "typer", "sacrebleu", "rapidfuzz")


def examine() -> list[dict[str, Any]]:
    """Each check by name: whether it is in order, what was found, what would mend it."""
    return [
        check("python", lambda: (True, platform.python_version()), fix=""),
        *(check(name, partial(package, name), fix=f"pip install {name}") for name in PACKAGES),
        check("device", device, fix=""),
        check("processor", processor, fix=""),
        check("one thread against all", threads, fix=""),
        check("disk", disk, fix="free some space"),
        check("atomic writes here", writing, fix="work in a folder you may write to"),
    ]


def check(name: str, probe: Callable[[], tuple[bool, str]], *, fix: str) -> dict[str, Any]:
    """Run one probe; a probe that fails is a finding, not a crash."""
    try:
        ok, found = probe()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here is what the user wants to hear
        ok, found = False, f"{type(error).__name__}: {error}"
    return {"name": name, "ok": ok, "found": found, "fix": fix}


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


def processor() -> tuple[bool, str]:
    """Cores this process may use."""
    return True, f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}"


def threads() -> tuple[bool, str]:
    """Matrix products a second with one thread and with all."""
    before = torch.get_num_threads()
    rates = {}
    for count in dict.fromkeys((1, len(os.sched_getaffinity(0)))):
        torch.set_num_threads(count)
        matrix = torch.randn(256, 256)
        started, rounds = time.perf_counter(), 0
        while time.perf_counter() - started < 0.2:
            matrix @ matrix
            rounds += 1
        rates[count] = rounds * 2 * 256**3 / (time.perf_counter() - started) / 1e9
    torch.set_num_threads(before)
    return True, ", ".join(f"{count}: {rate:.0f} GFLOP/s" for count, rate in rates.items())


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
