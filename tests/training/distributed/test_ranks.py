import socket

import pytest
import torch

import atento
from atento.api.starting.launch import Processes
from atento.errors import InputError, MachineError
from atento.training.distributed.ranks import ALONE, Ranks, connect, is_lost, local_device

CPU = torch.device("cpu")


@pytest.fixture
def torchrun(monkeypatch):
    """Sets what torchrun tells a process."""

    def become(**variables):
        facts = {"RANK": 0, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 1}
        for name, value in (facts | variables).items():
            monkeypatch.setenv(name, str(value))

    return become


def test_each_example_of_a_batch_is_taken_once():
    batch = list(range(7))
    parts = [Ranks(rank, 3).part(batch) for rank in range(3)]
    assert sorted(index for part in parts for index in part) == batch
    assert ALONE.part(batch) is batch


def test_a_process_that_nobody_joins_names_the_address(torchrun, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torchrun(MASTER_PORT=port)
    monkeypatch.setenv("ATENTO_CONNECT_SECONDS", "0.5")
    with pytest.raises(MachineError, match=rf"rank 0 of 2 could not meet the others at 127.0.0.1:{port}") as caught:
        connect(CPU)
    assert "1/2 clients joined" in caught.value.found


def test_torchrun_decides_how_many_processes_there_are(torchrun):
    torchrun()
    assert Processes.of(None, None, "ddp") == Processes(2, 1, "ddp")
    assert not Processes.of(2, 1, "fsdp").to_launch
    with pytest.raises(InputError, match="--devices 3: torchrun started another number"):
        Processes.of(3, None, "ddp")


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"devices": 4096}, "this machine has fewer"),
        ({"devices": 0}, "devices must be at least 1"),
        ({"nodes": 2}, "the machines need a place to meet"),
        ({"strategy": "fsdp"}, "shards a model over processes"),
        ({"strategy": "fdsp", "devices": 2}, "did you mean 'fsdp'"),
    ],
)
def test_what_cannot_be_started_is_refused(asked, said, tmp_path, monkeypatch):
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(InputError, match=said):
        atento.fit("copy", out=tmp_path / "run", **asked)
    assert not list(tmp_path.iterdir())


def test_an_error_of_the_network_is_told_from_others():
    assert is_lost(RuntimeError("[gloo/transport/tcp/pair.cc:1] Connection closed by peer [127.0.0.1]:1"))
    assert not is_lost(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_lost(ValueError("closed by peer"))
    assert local_device(CPU, 3) == CPU
