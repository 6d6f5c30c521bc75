"""atento studio: the same work in a browser."""

import os
import sys
from pathlib import Path
from threading import Thread
from typing import Annotated

from typer import Argument, Option

from atento.cli.output import command, remark, say
from atento.errors import InputError, Interrupted
from atento.extras import require_extra


def studio(
    folder: Annotated[Path, Argument(metavar="DIR", help="the folder to work in")] = Path(),
    host: Annotated[str, Option("--host", metavar="HOST", help="where to listen; other machines need --token")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, Option("--port", metavar="PORT", min=0, max=65535, help="0 takes a free one")] = 8765,
    token: Annotated[str, Option("--token", metavar="SECRET", help="made and kept when not given")] = "",
    no_browser: Annotated[bool, Option("--no-browser", help="print the link, open nothing")] = False,
) -> None:
    """Work in the browser: drop a file, see what it is, train, watch, look inside. Listens on this machine alone."""
    from atento.web.server import address_of, is_wildcard, listen, names_of, require_guarded, serve
    from atento.web.tokens import kept_token, require_token

    require_guarded(host, token=bool(token))
    require_extra("studio", "the studio")
    if token:
        require_token(token)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder.", found=str(folder), fix=f"mkdir -p {folder}")
    opened = listen(host, port, command=command("studio", folder))
    os.chdir(folder)

    from atento.studio.app import is_upload, make_app  # torch loads only when it is needed
    from atento.studio.workspace import TOKEN
    from atento.web.guard import Access, Guard

    taken = opened.getsockname()[1]
    secret = token or kept_token(TOKEN)
    access = Access(
        hosts=names_of(host, taken),
        token=secret,
        cookie=f"atento-studio-{taken}",
        any_address=taken if is_wildcard(host) else 0,
        is_upload=is_upload,
    )
    app = Guard(make_app(), access)
    link = f"{address_of(host, taken)}?token={secret}"
    say(f"atento studio in {Path.cwd()}\n  {link}")
    sys.stdout.flush()
    remark("Ctrl-C ends the studio; a training that is running goes on.")
    if not no_browser:
        open_browser(link)
    try:
        serve(app, opened)
    except Interrupted:  # how a server ends
        remark("the studio has ended.")


def open_browser(link: str) -> None:
    """Open the link where there is a screen; the terminal has it anyway."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    Thread(target=webbrowser.open, args=(link,), daemon=True).start()
