"""atento doctor."""

from atento.cli.options import JsonOption
from atento.cli.say import emit, print_table
from atento.errors import MachineError


def doctor(json: JsonOption = False) -> None:
    """Check that this machine can do the work, and say what it would do it with."""
    from atento.api.doctor import examine

    found = examine()
    if json:
        emit({"checks": found})
    else:
        rows = [[check["name"], "ok" if check["ok"] else "NOT OK", check["found"]] for check in found]
        print_table(["check", "state", "found"], rows)
    bad = [check for check in found if not check["ok"]]
    if bad:
        names = ", ".join(str(check["name"]) for check in bad)
        raise MachineError(f"not in order: {names}.", found=str(bad[0]["found"]), fix=str(bad[0]["fix"]))
