"""A server on this machine: where it listens, whom it believes to be there, and how it ends."""

import asyncio
import gc
import socket
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING

from atento.errors import InputError, MachineError, reason_of

if TYPE_CHECKING:
    from atento.web.bodies import App

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SEARCHED = 100  # ports after a busy one, in which a free one is looked for
QUEUE = 2048  # connections that wait to be accepted
# A server that has just ended leaves its port. On Windows the option for that would share a port with another server.
PORT_OPTION: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
OBJECTS = 20_000  # that are made before cycles among them are looked for; a request leaves hardly any
PATIENCE = 3  # seconds that open requests have when the server ends


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """Whether a host stands for every network of the machine."""
    try:
        return ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host


def require_guarded(host: str, *, token: bool) -> None:
    """Others may reach the server only where the user has chosen a token for them; asked before a socket is opened."""
    if not is_loopback(host) and not token:
        raise InputError(
            f"--host {host}: others could reach this server.",
            found="no --token",
            fix="leave --host out, or choose a secret: --token SECRET",
        )


def listen(host: str, port: int, *, command: str) -> socket.socket:
    """A socket that is bound and listens; port 0 takes a free one. A busy port is told with the next free one."""
    try:
        family, *_, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(
            f"--host {host}: there is no such address.", found=reason_of(error), fix="leave --host out"
        ) from None
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, PORT_OPTION, 1)
        opened.bind(address)
        opened.listen(QUEUE)
    except OSError as error:
        opened.close()
        free = next_free(host, port)
        raise MachineError(
            f"port {port} of {host} cannot be used.",
            found=reason_of(error),
            fix=f"{command} --port {free}" if free else f"{command} --port 0",
        ) from None
    return opened


def next_free(host: str, port: int) -> int:
    """The first free port after a busy one; 0 where there is none nearby."""
    for other in range(max(port, 1023) + 1, min(port + SEARCHED, 65536)):
        try:
            with socket.create_server((host.strip("[]"), other)):
                return other
        except OSError:
            continue
    return 0


def names_of(host: str, port: int) -> frozenset[str]:
    """What a Host header may say: the names that are bound, with the port."""
    written = f"[{host}]" if ":" in host and not host.startswith("[") else host
    names = {written.lower()} | (set(LOOPBACK) if is_loopback(host) or is_wildcard(host) else set())
    if is_wildcard(host):
        names |= {socket.gethostname().lower()}
    with_port = {f"{name}:{port}" for name in names}
    return frozenset(with_port | names if port == 80 else with_port)  # a browser leaves the port of HTTP out


def address_of(host: str, port: int) -> str:
    """The address to open, without a token."""
    shown = "127.0.0.1" if is_wildcard(host) else host
    return f"http://{f'[{shown}]' if ':' in shown and not shown.startswith('[') else shown}:{port}/"


def serve(
    app: "App",
    opened: socket.socket,
    *,
    patience: int = PATIENCE,
    beside: AbstractAsyncContextManager[object] | None = None,
) -> None:
    """Answer until a signal asks to end; open requests have some seconds to be answered. What runs `beside` begins
    before the first request and ends after the last.
    """
    import uvicorn  # of an extra

    config = uvicorn.Config(
        app,
        http="httptools" if beside is not None and find_spec("httptools") else "h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=patience,
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        async with beside or nullcontext():
            gc.collect()
            gc.freeze()  # what is loaded by now stays: looking through it again would stop all requests for a while
            gc.set_threshold(OBJECTS)
            await server.serve(sockets=[opened])

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(run())
