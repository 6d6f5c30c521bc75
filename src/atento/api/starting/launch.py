"""The processes of a run: as many as were asked for, started by torch's own elastic launcher.

`launch` starts them on this machine (`atento.rank`) with what they shall do in a file, passes on the events of the
first, and says why they failed.
"""

import json
import logging
import os
import signal
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from atento.data.files.memory import lend
from atento.errors import AtentoError, InputError, Interrupted, MachineError, RunError, failure_of, unknown_name
from atento.lines import lines_of
from atento.predictor import find_device
from atento.training.distributed.ranks import VARIABLES, is_rank, too_many
from atento.training.distributed.strategies import STRATEGIES
from atento.training.events import Event, EventCallback, no_callback
from atento.writing import write_atomically

REQUEST, EVENTS, RESULT = "request.json", "events.jsonl", "result.json"
SECONDS_TO_SAVE = 4  # for processes that were told to stop, before they are killed
SECONDS_BETWEEN_LOOKS = 0.1
PORT = 29500  # torchrun's
FAILURES: dict[int, type[AtentoError]] = {error.exit_code: error for error in (InputError, MachineError, RunError)}


@dataclass(frozen=True)
class FitRequest:
    """What every process of a run is told to do."""

    data: str
    values: dict[str, Any]  # recipe keys that the user gave
    device: str = "auto"
    out: str = ""  # empty: a new folder
    start_from: str = ""
    track: list[str] = field(default_factory=list)  # trackers
    resume: bool = False


@dataclass(frozen=True)
class Processes:
    """How many processes train a model, on how many machines, and how they share the work."""

    devices: int = 1  # processes on each machine
    nodes: int = 1  # machines
    strategy: str = "ddp"
    to_launch: bool = field(default=False, compare=False)  # whether they are still to be started

    @classmethod
    def of(cls, devices: int | None, nodes: int | None, strategy: str) -> "Processes":
        """What was asked for, or what torchrun has already started."""
        if strategy not in STRATEGIES:
            raise unknown_name("strategy", strategy, STRATEGIES, where="--strategy")
        for name, number in (("devices", devices), ("nodes", nodes)):
            if number is not None and number < 1:
                raise InputError(f"--{name} must be at least 1.", found=str(number), fix=f"--{name} 1")
        if is_rank():
            local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
            machines = int(os.environ["WORLD_SIZE"]) // local
            for name, asked, there in (("devices", devices, local), ("nodes", nodes, machines)):
                if asked is not None and asked != there:
                    raise InputError(
                        f"--{name} {asked}: torchrun started another number.",
                        found=f"{there} ({', '.join(VARIABLES[:2])} and LOCAL_WORLD_SIZE say so)",
                        fix=f"leave --{name} out",
                    )
            return cls(local, machines, strategy)
        devices, nodes = devices or 1, nodes or 1
        if strategy == "fsdp" and devices * nodes == 1:
            raise InputError(
                "--strategy fsdp shards a model over processes.",
                found="one process",
                fix="--devices 2, or --strategy ddp",
            )
        return cls(devices, nodes, strategy, to_launch=devices * nodes > 1)

    def command(self) -> list[str]:
        """The words before a command's name that start it again in the same way."""
        if not is_rank() or LAUNCHED in os.environ:
            return ["atento"]
        machines = ["--nnodes", str(self.nodes)] if self.nodes > 1 else ["--standalone"]
        return ["torchrun", *machines, "--nproc-per-node", str(self.devices), "-m", "atento"]

    def options(self) -> list[str]:
        """The options behind it."""
        strategy = ["--strategy", self.strategy] if self.strategy != "ddp" else []
        if is_rank() and LAUNCHED not in os.environ:
            return strategy
        devices = ["--devices", str(self.devices)] if self.devices * self.nodes > 1 else []
        return [*devices, *(["--nodes", str(self.nodes)] if self.nodes > 1 else []), *strategy]


ONE = Processes()
LAUNCHED = "ATENTO_LAUNCHED"  # set for processes that `launch` starts


def launch(request: FitRequest, processes: Processes, *, on_event: EventCallback = no_callback) -> Path:
    """Start the processes of this machine and wait for their end; the folder of the run."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    require_devices(request, processes)
    with tempfile.TemporaryDirectory(prefix="atento-") as name:
        folder = Path(name)
        write_atomically(folder / REQUEST, json.dumps({**asdict(request), "strategy": processes.strategy}).encode())
        lend([str(value) for value in (request.data, *request.values.values())], folder)
        config = LaunchConfig(
            min_nodes=processes.nodes,
            max_nodes=processes.nodes,
            nproc_per_node=processes.devices,
            run_id=os.environ.get("ATENTO_RUN_ID", "atento" if processes.nodes > 1 else uuid.uuid4().hex),
            rdzv_backend="c10d",
            rdzv_endpoint=meeting_place(processes),
            max_restarts=0,  # a failure is told, and torchrun --max-restarts is for those who want restarts
            shutdown_timeout=SECONDS_TO_SAVE,
            logs_specs=DefaultLogsSpecs(log_dir=str(folder / "logs")),
        )
        for logger in ("torch.distributed.elastic", *logging.root.manager.loggerDict):
            if logger.startswith("torch.distributed.elastic"):  # each has a level of its own
                logging.getLogger(logger).setLevel(logging.CRITICAL)
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        environment = dict(os.environ)
        os.environ[LAUNCHED] = str(os.getpid())
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault(
            "TORCH_CPP_LOG_LEVEL", "ERROR"
        )  # failures are told below; DDP's advice is for programmers
        try:
            with passing_on(folder / EVENTS, on_event):
                elastic_launch(config, sys.executable)("-m", "atento.rank", name)
        except SignalException as stop:
            problem, fix = "stopped before the processes could save.", "go on from the last checkpoint with --resume"
            raise failure_in(folder) or Interrupted(int(stop.sigval), problem, fix=fix) from None
        except ChildFailedError as error:
            codes = {rank: failure.exitcode for rank, failure in error.failures.items()}
            raise failure_in(folder, codes) or RunError("the processes ended.", found=str(codes)) from None
        except (RuntimeError, OSError) as error:
            raise not_met(processes, config.rdzv_endpoint, error) from None
        finally:
            os.environ.clear()
            os.environ.update(environment)
            if threading.current_thread() is threading.main_thread():
                for number, handler in handlers.items():
                    signal.signal(number, handler)
        return Path(json.loads((folder / RESULT).read_bytes())["folder"])


def require_devices(request: FitRequest, processes: Processes) -> None:
    """This machine must have as many devices; a second machine must be told where to meet."""
    if processes.nodes > 1 and not os.environ.get("MASTER_ADDR"):
        raise InputError(
            f"--nodes {processes.nodes}: the machines need a place to meet.",
            found="MASTER_ADDR is not set",
            fix="on every machine: MASTER_ADDR=NAME_OF_THE_FIRST atento train …, the same command",
        )
    if find_device(request.device).type == "cuda":
        there, what = torch.cuda.device_count(), "GPU"
    else:
        there, what = max(2, os.cpu_count() or 1), "core"
    if processes.devices > there:
        raise too_many(processes.devices, there, what)


def meeting_place(processes: Processes) -> str:
    """Where the launchers of all machines meet; on one machine, at any free port."""
    if processes.nodes == 1:
        return "localhost:0"
    return f"{os.environ['MASTER_ADDR']}:{os.environ.get('MASTER_PORT', PORT)}"


def not_met(processes: Processes, place: str, error: Exception) -> AtentoError:
    """The one message for machines that do not meet."""
    if processes.nodes == 1:
        return failure_of(error)
    return MachineError(
        f"the {processes.nodes} machines did not meet at {place}.",
        found=f"{type(error).__name__}: {lines_of(str(error) or 'no answer')[0][:120]}",
        fix="run the same command on every machine, with a MASTER_ADDR that each of them can reach",
    )


@contextmanager
def passing_on(path: Path, on_event: EventCallback) -> Iterator[None]:
    """Within it the events that the first process writes to a file are passed on; all of them before it ends."""
    over, read = threading.Event(), 0

    def look() -> None:
        nonlocal read
        if not path.exists():
            return
        with path.open("rb") as file:
            file.seek(read)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        read += len(whole)
        for line in lines_of(whole.decode()):
            event: Event = json.loads(line)
            on_event(event)

    def follow() -> None:
        while not over.wait(SECONDS_BETWEEN_LOOKS):
            look()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        look()


def failure_path(folder: Path, rank: int) -> Path:
    """Where a process says why it failed."""
    return folder / f"failure-{rank}.json"


def failure_in(folder: Path, codes: Mapping[int, int] = MappingProxyType({})) -> AtentoError | None:
    """Why the processes failed: the one that was killed, by its exit code; else what the first of them says that did
    not only miss another.
    """
    said = {int(path.stem.partition("-")[2]): json.loads(path.read_bytes()) for path in folder.glob("failure-*.json")}
    own = [facts for rank, facts in sorted(said.items()) if not facts["lost"]]
    lost = [facts for rank, facts in sorted(said.items()) if facts["lost"]]
    silent = {rank: code for rank, code in codes.items() if rank not in said and code != -signal.SIGTERM}
    if silent and not own:
        rank, code = min(silent.items())
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        fix = next((facts["fix"] for facts in lost), "run it again with --resume")
        return RunError(f"rank {rank} {how}, and the others ended.", found=f"exit code {code}", fix=fix)
    for facts in (*own, *lost):
        code = int(facts["exit_code"])
        if code > 128:
            return Interrupted(code - 128, facts["problem"], fix=facts["fix"])
        kind = FAILURES.get(code, AtentoError)
        return kind(facts["problem"], found=facts["found"], fix=facts["fix"])
    return None
