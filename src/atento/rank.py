"""One of the processes that train a model together: python -m atento.rank FOLDER, as `launch` starts it.

It loads torch only after it has been tied to its parent, which may die in the meantime.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from atento.system import end_with_process, loading

if TYPE_CHECKING:
    from atento.training.events import Event


def main(folder: Path) -> int:
    """Do what the file in the folder says; a failure is written beside it."""
    with loading():
        from atento.api.fit import fit_together
        from atento.api.starting.launch import EVENTS, REQUEST, RESULT, FitRequest, Processes, failure_path
        from atento.data.files.memory import borrow
        from atento.errors import AtentoError, failure_of
        from atento.predictor import find_device
        from atento.training.distributed.ranks import PeerLost, join
        from atento.writing import write_atomically

    facts = json.loads((folder / REQUEST).read_bytes())
    processes = Processes.of(None, None, facts.pop("strategy"))
    request = FitRequest(**facts)

    def write(event: "Event") -> None:
        with (folder / EVENTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    rank = int(os.environ["RANK"])
    try:
        held = borrow(
            [str(value) for value in (request.data, *request.values.values())], folder
        )  # as long as it is trained
        with join(find_device(request.device)) as ranks:
            run = fit_together(request, ranks, processes, on_event=write if rank == 0 else lambda event: None)
        del held
        if os.environ.get("LOCAL_RANK", "0") == "0":
            write_atomically(folder / RESULT, json.dumps({"folder": str(run)}).encode())
    except Exception as error:
        failure = failure_of(error)
        told = {"problem": failure.problem, "found": failure.found, "fix": failure.fix, "exit_code": failure.exit_code}
        told["lost"] = isinstance(failure, PeerLost)
        write_atomically(failure_path(folder, rank), json.dumps(told).encode())
        if failure.exit_code == AtentoError.exit_code:  # a mistake of its own leaves its traceback
            raise
        return failure.exit_code
    return 0


if __name__ == "__main__":
    end_with_process(int(os.environ["ATENTO_LAUNCHED"]))
    failed = main(Path(sys.argv[1]))
    sys.stderr.flush()
    if failed:
        os._exit(failed)  # what is told is on disk, and torch takes its time to end without the others
