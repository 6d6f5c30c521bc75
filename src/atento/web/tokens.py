"""The secret that a page and its server share: made once, kept in a file that only its owner reads."""

import re
import secrets
from pathlib import Path

from atento.errors import InputError, unwritable
from atento.writing import write_atomically

FORM = re.compile(r"[A-Za-z0-9._~-]{8,200}")  # what stands in an address and in a cookie as it is
BYTES = 24


def require_token(given: str) -> str:
    """A token that the user chose, if it can be one."""
    if not FORM.fullmatch(given):
        raise InputError(
            "--token: this cannot be a token.",
            found=f"{len(given)} characters",
            fix="give at least 8 letters, digits or any of . _ ~ -",
        )
    return given


def kept_token(path: Path) -> str:
    """The token in a file; where there is none, a new one is drawn and kept, so that pages outlive their server."""
    if path.is_file() and not path.is_symlink():
        found = path.read_text(encoding="utf-8", errors="replace").strip()
        if FORM.fullmatch(found):
            return found
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)  # before the file is there, so that nobody reads it in between
        token = secrets.token_urlsafe(BYTES)
        write_atomically(path, f"{token}\n".encode())
        path.chmod(0o600)
    except OSError as error:
        raise unwritable(path, error) from None
    return token
