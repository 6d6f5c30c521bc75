"""A comparison over a Ray cluster on this machine, a node of which dies, beside one over local processes."""

import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

import atento
from atento.api.comparison.cluster import QUIET, RESTARTS, RayWorker, workers_for
from atento.api.comparison.workers import Job
from atento.api.folders import held
from atento.errors import InputError, MachineError
from atento.node import run_worker
from atento.version import __version__

MODELS = ("rnn", "gru")
SMALL = {"train.steps": 240, "train.validations": 2, "train.checkpoint_every": 10, "model.hidden": 24,
         "train.batch_tokens": 300, "model.dropout": 0.1}  # fmt: skip


BUSY = {"RAY_health_check_timeout_ms": "60000",  # a node that answers late is not dead, one that is gone refuses
        "RAY_memory_monitor_refresh_ms": "0"}  # else what other tests hold would end a job  # fmt: skip
PATIENCE = 600  # seconds, of which a busy machine may need many
STARTS = 5  # Ray gives a node 30 s to begin


@pytest.fixture(scope="module")
def cluster():
    """A head that trains nothing, and two nodes of one core each; nothing leaves the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (QUIET | BUSY).items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        made = begun(lambda: Cluster(True, head_node_args={"num_cpus": 0, "include_dashboard": False}))
        begun(lambda: made.add_node(num_cpus=1, wait=False))
        begun(lambda: made.add_node(num_cpus=1, wait=False))
        yield made
        made.shutdown()


def begun(start):
    """What is started; again on a machine too busy for it to begin in time, of which nothing is left."""
    for left in reversed(range(STARTS)):
        before = set(psutil.Process().children(recursive=True))
        try:
            return start()
        except Exception:  # Ray has no other for a node that is late
            if not left:
                raise
            for process in set(psutil.Process().children(recursive=True)) - before:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
    return None


def facts(board):
    """What a board says, but for times and places."""
    rows = [(row.model, row.failed, row.value, row.low, row.high, row.scores, row.parameters) for row in board.rows]
    return rows, board.winner, board.ties, board.verdict[:1]


def weights(board, model):
    return (board.folder / model / "weights.safetensors").read_bytes()


def place_of(cluster, folder):
    """The process that writes to a folder, and its node: that whose raylet is its ancestor. None before it runs."""
    raylets = {node.all_processes["raylet"][0].process.pid: node for node in cluster.worker_nodes}
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess):
            if "atento.worker" in (words := process.cmdline()) and str(folder) in words:
                for parent in process.parents():
                    if parent.pid in raylets:
                        return process, raylets[parent.pid]
    return None


def kill_the_first_to_save(cluster, folders, killed, ended):
    """Kill the node of the first model that has a checkpoint, which is suspended so that it cannot end before."""
    places = {}
    while not killed and not ended.wait(0.01):
        for folder in folders:
            places[folder] = places.get(folder) or place_of(cluster, folder)
            if not places[folder] or not (folder / "checkpoint.safetensors").exists():
                continue
            process, node = places[folder]
            with suppress(psutil.NoSuchProcess):
                process.suspend()
                if not killed and not (folder / "manifest.json").exists():
                    cluster.remove_node(node, allow_graceful=False)
                    killed.append(folder.name)
                process.resume()


def test_a_cluster_whose_node_dies_gives_the_board_of_local_processes(cluster, tiny_pairs, tmp_path):
    """Its model is started again, and goes on from its checkpoint."""
    local = atento.compare(tiny_pairs, models=MODELS, settings=SMALL, out=tmp_path / "local")
    told, killed, ended = [], [], threading.Event()
    folders = [tmp_path / "spread" / name for name in MODELS]
    killer = threading.Thread(target=kill_the_first_to_save, args=(cluster, folders, killed, ended))
    killer.start()
    try:
        spread = atento.compare(
            tiny_pairs,
            models=MODELS,
            settings=SMALL,
            out=tmp_path / "spread",
            cluster=cluster.address,
            on_event=told.append,
        )
    finally:
        ended.set()
        killer.join()
    notes = [event["text"] for event in told if event["event"] == "note" and "its node died" in event["text"]]
    assert [note.split(":")[0] for note in notes] == killed and len(killed) == 1
    assert facts(spread) == facts(local)
    assert [weights(spread, name) == weights(local, name) for name in MODELS] == [True, True]
    assert f"--cluster {cluster.address}" in spread.command and "--cluster" not in local.command


def endless(tiny_pairs, tmp_path):
    """A job that trains until it is stopped."""
    job = Job("rnn", tmp_path / "rnn.toml", tmp_path / "rnn")
    settings = {**SMALL, "model.name": "rnn", "train.steps": 10**6, "data.train": str(tiny_pairs)}
    job.recipe.write_text(atento.recipe(tiny_pairs, model="rnn", settings=settings).recipe.to_toml())
    return job


def test_a_job_that_is_stopped_saves_first(cluster, tiny_pairs, tmp_path):
    job = endless(tiny_pairs, tmp_path)
    with workers_for(cluster.address, "cpu", tell=print) as workers:
        worker = workers.start(job, slots=1)
        while not (job.folder / "checkpoint.safetensors").exists():
            assert worker.exit_code() is None, job.log.read_text()
            time.sleep(0.05)
        worker.ask_to_save()
        worker.wait(PATIENCE)
    assert "everything is saved" in job.log.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to one process")
def test_a_job_that_is_stopped_twice_saves_first(tiny_pairs, tmp_path):
    """As a busy cluster does."""
    job = endless(tiny_pairs, tmp_path)
    call = f"""
import signal
from atento.node import run_worker
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
run_worker({job.words("cpu")!r}, {str(job.log)!r}, {__version__!r})
"""
    with subprocess.Popen([sys.executable, "-c", call], stderr=subprocess.DEVNULL) as node:
        while not (job.folder / "checkpoint.safetensors").exists():
            assert node.poll() is None, job.log.read_text()
            time.sleep(0.05)
        process = psutil.Process(node.pid).children()[0]
        process.suspend()  # as slow as on a busy machine
        for _ in range(3):
            node.send_signal(signal.SIGINT)
            time.sleep(0.5)
        process.resume()
    assert "everything is saved" in job.log.read_text()


class Fallen:
    """A cluster on which every task ends with an error."""

    def __init__(self, error):
        import ray

        self.exceptions, self.error, self.submitted = ray.exceptions, error, 0
        self.ray, self.device, self.tell, self.task = self, "cpu", print, self

    def remote(self, *given):
        self.submitted += 1
        return given

    def wait(self, tasks, timeout):
        return tasks, []

    def get(self, task):
        raise self.error


def test_a_job_is_not_started_again_for_ever(tmp_path):
    from ray.exceptions import WorkerCrashedError

    workers, job = Fallen(WorkerCrashedError()), Job("rnn", tmp_path / "rnn.toml", tmp_path / "rnn")
    worker = RayWorker(workers, job)
    assert [worker.exit_code() for _ in range(RESTARTS + 1)] == [None] * RESTARTS + [4]
    assert workers.submitted == RESTARTS + 1
    assert job.log.read_text().startswith("its node died 4 times.")


def test_a_job_is_started_again_when_its_folder_is_free(tmp_path):
    """Its process may outlive a node that is cut off or slow; a second one beside it would be refused."""
    from ray.exceptions import WorkerCrashedError

    workers, job = Fallen(WorkerCrashedError()), Job("rnn", tmp_path / "rnn.toml", tmp_path / "rnn")
    worker = RayWorker(workers, job)
    with held(job.folder):
        assert [worker.exit_code() for _ in range(3)] == [None] * 3 and workers.submitted == 1
        worker.ask_to_save()
        worker.wait(0.0)  # there is nothing to be saved or to be waited for
    assert worker.exit_code() is None and workers.submitted == 2


def test_what_a_node_cannot_do_is_said(tmp_path):
    code, said = run_worker([sys.executable], str(tmp_path / "log"), "0.0.1")
    assert code == 3 and said.endswith(f"has atento {__version__}, and here is 0.0.1.")
    code, said = run_worker([str(tmp_path / "elsewhere.toml")], str(tmp_path / "log"), __version__)
    assert code == 3 and said.endswith(f"cannot see {tmp_path / 'elsewhere.toml'}.")
    assert not list(tmp_path.iterdir())
    workers, job = Fallen(None), Job("rnn", tmp_path / "rnn.toml", tmp_path / "rnn")
    workers.get = lambda task: (code, said)
    assert RayWorker(workers, job).exit_code() == 3 and job.log.read_text().startswith(said)


@pytest.mark.parametrize(
    "address, error, said",
    [
        ("127.0.0.1:1", MachineError, "there is no Ray cluster at 127.0.0.1:1"),
        ("ray://somewhere", InputError, "this is no address"),
    ],
)
def test_a_cluster_that_is_not_there_is_named(address, error, said, tiny_pairs, tmp_path):
    with pytest.raises(error, match=said):
        atento.compare(tiny_pairs, models=["rnn"], cluster=address, out=tmp_path / "board")
    assert not (tmp_path / "board").exists()


def test_a_node_needs_no_torch_to_find_the_function():
    """Ray loads it by its name in a process of its own."""
    code = "import atento.node, sys; sys.exit('torch' in sys.modules)"
    source = str(Path(atento.__file__).parents[1])
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": source}, check=False).returncode == 0
