"""A process that trains one model of a comparison, or one trial of a search: python -m atento.worker RECIPE FOLDER
DEVICE [trial].

It ends with its parent, which holds the other end of the pipe to its standard input; a model goes on from its last
checkpoint. It loads torch only after it has been tied to its parent, which may die in the meantime.
"""

import sys
from pathlib import Path

from atento.system import end_with_parent, loading


def main(recipe: str, folder: str, device: str, kind: str = "") -> int:
    """Begin or resume, and say in one line what went wrong."""
    with loading():
        from atento.api.fit import fit
        from atento.api.trials import run_trial
        from atento.data.files.memory import borrow
        from atento.errors import AtentoError, failure_of
        from atento.spec import read_recipe

    try:
        data = read_recipe(Path(recipe)).data
        held = borrow((data.train, data.valid, data.test), Path(recipe).parent)  # as long as it is trained
        if kind == "trial":
            run_trial(recipe, folder, device)
        else:
            fit(recipe, out=folder, device=device, resume=True)
        del held
    except Exception as error:
        failure = failure_of(error)
        if failure.exit_code == AtentoError.exit_code:  # a mistake of its own leaves its traceback
            raise
        print(failure, file=sys.stderr)
        return failure.exit_code
    return 0


if __name__ == "__main__":
    end_with_parent()
    sys.exit(main(*sys.argv[1:5]))
