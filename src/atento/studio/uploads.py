"""Dropped files: streamed to disk beside their place, and moved there when they are whole."""

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

from starlette.concurrency import run_in_threadpool

from atento.errors import InputError, unwritable
from atento.studio.workspace import DATA, clean_name, free_path, is_inside, outside
from atento.system import replace_file

MOVING = Lock()  # two files of one name would take one place


async def receive_file(name: str, chunks: AsyncIterator[bytes]) -> Path:
    """Write the body of a request to a new file in `data`; nothing is left of one that does not arrive whole."""
    wanted = clean_name(name)
    if not is_inside(DATA):
        raise outside(str(DATA), what="data")
    beside, made = DATA / f".upload-{secrets.token_hex(8)}", not DATA.exists()
    try:
        DATA.mkdir(exist_ok=True)
        with beside.open("xb") as file:
            async for chunk in chunks:
                if chunk:
                    await run_in_threadpool(file.write, chunk)
            if not file.tell():
                raise InputError("the file is empty.", found=wanted, fix="drop one that holds data")
            file.flush()
            await run_in_threadpool(os.fsync, file.fileno())
        with MOVING:
            return replace_file(beside, free_path(wanted))
    except OSError as error:
        raise unwritable(DATA / wanted, error) from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
            if made:
                DATA.rmdir()  # which fails, as it should, where a file is in it
