"""atento serve: a trained model that answers other programs."""

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

from typer import Option

from atento.cli.options import DeviceOption, RunArgument
from atento.cli.output import command, remark, say
from atento.errors import Interrupted, no_such_run
from atento.extras import require_extra

if TYPE_CHECKING:
    from atento.serving.served import ModelCard


def serve(
    run: RunArgument,
    host: Annotated[str, Option("--host", metavar="HOST", help="where to listen; other machines need --token")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, Option("--port", metavar="PORT", min=0, max=65535, help="0 takes a free one")] = 8000,
    token: Annotated[str, Option("--token", metavar="SECRET", help="what every request must then send")] = "",
    limit: Annotated[
        list[str] | None, Option("--limit", metavar="KEY=VALUE", help="change one limit, e.g. queue=4096")
    ] = None,
    device: DeviceOption = "auto",
) -> None:
    """Serve a trained model to other programs over HTTP, with a page to try it. Listens on this machine alone.

    --host and --token together open it to other machines.
    """
    from atento.serving.limits import parse_limits
    from atento.web.server import address_of, is_wildcard, listen, names_of, require_guarded, serve
    from atento.web.tokens import require_token

    require_guarded(host, token=bool(token))
    require_extra("serve", "a server")
    if token:
        require_token(token)
    limits = parse_limits(limit or [])
    if not run.is_dir():
        raise no_such_run(run)
    opened = listen(host, port, command=command("serve", run))

    from atento.serving.app import OPEN_PATHS, Front, serving
    from atento.web.guard import Access

    taken = opened.getsockname()[1]

    def access(largest: int) -> Access:
        return Access(
            hosts=names_of(host, taken),
            token=token,
            cookie=f"atento-serve-{taken}",
            any_address=taken if is_wildcard(host) else 0,
            open_paths=OPEN_PATHS,
            programs=True,
            largest=largest,
            patience=limits.seconds,
        )

    def ready(card: "ModelCard") -> None:
        link = address_of(host, taken)
        say(
            f"atento serve: {card.model} for {card.task}, model {card.id}\n  {link}{f'?token={token}' if token else ''}"
        )
        say(f"  {example_of(card, link, token=token)}")
        sys.stdout.flush()
        remark("Ctrl-C ends the server; a new model in the same folder takes over by itself.")

    front = Front()
    try:
        serve(
            front,
            opened,
            patience=limits.drain,
            beside=serving(front, run, device=device, limits=limits, access=access, on_ready=ready),
        )
    except Interrupted:  # how a server ends
        remark("the server has ended.")


def example_of(card: "ModelCard", link: str, *, token: str) -> str:
    """A command that asks the server."""
    from atento.serving.served import example_row

    body = f'{{"rows": [{example_row(card)}]}}'
    secret = f" -H {shlex.quote(f'Authorization: Bearer {token}')}" if token else ""
    return f"curl {link}predict{secret} -H 'Content-Type: application/json' -d {shlex.quote(body)}"
