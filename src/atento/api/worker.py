"""One model of a comparison, in a process of its own: python -m atento.api.worker RECIPE FOLDER DEVICE PARENT."""

import os
import signal
import sys
import threading
import time

from atento.api.fit import fit
from atento.errors import AtentoError


def stop_with_parent(parent: int) -> None:
    """When the comparison dies, save and stop too."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)


def main(recipe: str, folder: str, device: str, parent: str) -> int:
    """Begin or resume, and say in one line what went wrong."""
    threading.Thread(target=stop_with_parent, args=(int(parent),), daemon=True).start()
    try:
        fit(recipe, out=folder, device=device, resume=True)
    except AtentoError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
