"""Every command that `atento inspect` prints can be typed as it stands: what it reads is not refused."""

import re
import shlex

import pytest
from tests.journeys.real_files import FILES as REAL
from tests.journeys.test_bad_input import FILES as BAD

from atento.api.inspect import inspect
from atento.api.prepare import assemble, gather_values, prepare, read_data
from atento.errors import AtentoError

TWO_WAYS = "Mes;Ventas\n" + "".join(
    f"01/{1 + at % 12:02}/{2012 + at // 12};{15 + at % 7}.{at:03}\n" for at in range(90)
)
OTHERS = {
    "two readings.csv": TWO_WAYS,
    "two readings and a gap.csv": TWO_WAYS.replace("15.049", "n/d"),
    "two dialects.csv": "day,x\n"
    + "".join(f'2021-{1 + at // 28:02}-{1 + at % 28:02},"{at}{",."[at % 2]}5"\n' for at in range(80)),
    "bad rows and two labels.csv": "text,label\n"
    + "".join(
        f"a text about number {at},{('good', 'bad')[at % 2]}\n" + "one cell\n" * (at % 9 == 0) for at in range(60)
    ),
    "one class.csv": "text,label\n" + "".join(f"a text about number {at},good\n" for at in range(60)),
    "noise.csv": "id,1,2,3,4,5\n" + "".join(f"T{at},{at * 7 % 5},{at * 3 % 11},{at % 3},9,{at}\n" for at in range(8)),
}


def typed(command):
    """The file, the task and the settings of a printed command."""
    _, _, file, *options = shlex.split(command)
    pairs = list(zip(options[::2], options[1::2], strict=True))
    task = next((value for name, value in pairs if name == "--task"), "auto")
    return file, task, tuple(value for name, value in pairs if name == "--set")


def accept(command):
    """Read what a command names and build the first model, as a training does."""
    file, task, settings = typed(command)
    if command.startswith("atento inspect "):
        inspect(file, task=task, settings=settings)
        return
    values = gather_values(file, task=task, model="auto", settings=settings, seed=None, budget=None)
    prepare(read_data(assemble(values), values))


def printed_commands(source):
    """The commands that an inspection prints, each reading once; of a file that is refused, what its fix sets."""
    try:
        found = inspect(source)
    except AtentoError as error:
        settings = [word for key, value in error.settings.items() for word in ("--set", f"{key}={value}")]
        return [shlex.join(["atento", "compare", source, *settings])] if settings else []
    printed = [*found.next, *(problem.command for problem in found.problems)]
    fixes = [one for problem in found.problems for one in re.findall(r"--set (\S+?=[\w/]+)", problem.fix)]
    assert all(any(one in command for command in printed) for one in fixes if found.next)
    return list({typed(command): command for command in printed if command.startswith("atento ")}.values())


@pytest.mark.parametrize("name", [*REAL, *BAD, *OTHERS])
def test_a_printed_command_is_not_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in REAL:
        source = REAL[name](tmp_path).source
    else:
        content = BAD.get(name) or OTHERS.get(name, "")
        source = name
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for command in printed_commands(source):
        accept(command)


def test_numbers_of_two_readings_are_offered_in_both(tmp_path):
    """Neither is chosen, as one of them is wrong by a factor of a thousand; the key is named with what each means."""
    path = tmp_path / "ventas.csv"
    path.write_text(TWO_WAYS)
    found = inspect(path)
    assert [typed(command)[2] for command in found.next] == [
        ("data.decimal=comma",),
        ("data.decimal=comma",),
        ("data.decimal=point",),
        ("data.decimal=point",),
    ]
    assert "15000" in found.problems[0].fix and "15 " in f"{found.problems[0].fix} "
