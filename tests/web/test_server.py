"""Where a server listens, whom it refuses, what it says of a busy port, and how it ends."""

import socket
import subprocess
import sys

import pytest
import typer.testing

from atento.cli.app import app
from atento.errors import InputError, MachineError
from atento.web.server import address_of, is_loopback, is_wildcard, listen, names_of, require_guarded
from atento.web.tokens import kept_token, require_token


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.5.3.1"])
def test_this_machine_needs_no_token_of_the_user(host):
    assert is_loopback(host) and not is_wildcard(host)
    require_guarded(host, token=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "192.0.2.7", "example.org", "127.0.0.1.example.org", ""])
def test_others_need_one(host):
    assert not is_loopback(host)
    with pytest.raises(InputError, match="--token"):
        require_guarded(host, token=False)
    require_guarded(host, token=True)


def test_the_names_of_a_server():
    assert names_of("127.0.0.1", 83) == {"127.0.0.1:83", "localhost:83", "[::1]:83"}
    assert names_of("192.0.2.7", 83) == {"192.0.2.7:83"}
    assert names_of("Example.org", 80) == {"example.org", "example.org:80"}
    assert "localhost:83" in names_of("0.0.0.0", 83) and "evil.example:83" not in names_of("0.0.0.0", 83)
    assert names_of("::1", 83) == names_of("127.0.0.1", 83)
    assert address_of("0.0.0.0", 83) == "http://127.0.0.1:83/" and address_of("::1", 83) == "http://[::1]:83/"


def test_port_zero_takes_a_free_one():
    with listen("127.0.0.1", 0, command="atento studio") as opened:
        assert opened.getsockname()[0] == "127.0.0.1" and opened.getsockname()[1] > 0


def test_a_busy_port_is_told_with_the_next_free_one():
    with listen("127.0.0.1", 0, command="x") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(MachineError) as told:
            listen("127.0.0.1", port, command="atento studio .")
    assert told.value.exit_code == 3 and str(port) in told.value.problem
    *words, free = told.value.fix.split(" ")
    assert words == ["atento", "studio", ".", "--port"] and port < int(free) <= port + 100
    with socket.create_server(("127.0.0.1", int(free))):
        pass


def test_an_address_that_there_is_not():
    with pytest.raises(InputError, match="no such address"):
        listen("no such host", 0, command="x")


def test_a_token_is_made_once_and_a_damaged_one_is_replaced(tmp_path):
    path = tmp_path / "hidden" / "token"
    first = kept_token(path)
    assert kept_token(path) == first and require_token(first) == first
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    path.write_text("short\n")
    assert kept_token(path) not in ("short", first)
    other = tmp_path / "link" / "token"
    other.parent.mkdir()
    other.symlink_to(path)  # of somebody who knows what stands there
    assert kept_token(other) != kept_token(path) and not other.is_symlink()


@pytest.mark.parametrize("token", ["short", "with space in it", "quote'and;semicolon", "new\nline-in-it", "é" * 9])
def test_a_token_that_cannot_stand_in_an_address_is_refused(token):
    with pytest.raises(InputError, match="token"):
        require_token(token)


def test_without_the_extra_the_line_that_installs_it_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "uvicorn", None)  # as if it were not installed
    done = typer.testing.CliRunner().invoke(app, ["studio", str(tmp_path), "--no-browser"])
    assert isinstance(done.exception, MachineError) and done.exception.exit_code == 3
    assert done.exception.fix == 'pip install "atento[studio]"' and "uvicorn" in done.exception.problem
    assert list(tmp_path.iterdir()) == []


def test_the_command_refuses_a_folder_that_there_is_not(tmp_path):
    command = [sys.executable, "-m", "atento", "studio", str(tmp_path / "nothing"), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2 and "no such folder" in done.stderr and not list(tmp_path.iterdir())
