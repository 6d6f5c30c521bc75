"""Options that mean the same in every command, and names to choose from with a did-you-mean."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from atento.errors import unknown_name


def one_of(names: Collection[str], option: str) -> Callable[[str], str]:
    """Takes one of these names; for any other the error names the nearest."""

    def check(name: str) -> str:
        if name not in names:
            raise unknown_name("choice", name, names, where=option)
        return name

    return check


DEVICES = ("auto", "cpu", "cuda")

DataArgument = Annotated[
    str, Argument(metavar="FILE", help="a data file, two parallel files a.de,a.en, a built-in name, or a recipe.toml")
]
RunArgument = Annotated[Path, Argument(metavar="RUN", help="the folder of a trained model", show_default=False)]
TaskOption = Annotated[str, Option("--task", metavar="TASK", help="what to learn; guessed when not given")]
SetOption = Annotated[
    list[str] | None,
    Option(
        "--set", metavar="KEY=VALUE", help="change one recipe key, e.g. model.hidden=256; `atento schema` lists all"
    ),
]
SeedOption = Annotated[int | None, Option("--seed", min=0, help="one seed for split, weights, order and dropout")]
BudgetOption = Annotated[
    str | None, Option("--budget", metavar="TIME", help="how long the command may learn, e.g. 90s or 5m")
]
OutOption = Annotated[Path | None, Option("--out", metavar="PATH", help="where to write")]
DeviceOption = Annotated[
    str,
    Option(
        "--device",
        metavar="|".join(DEVICES),
        callback=one_of(DEVICES, "--device"),
        help="auto takes a GPU where there is one",
    ),
]
ResumeOption = Annotated[bool, Option("--resume", help="go on where --out stopped; from the start if it never began")]
JsonOption = Annotated[bool, Option("--json", help="print one JSON document and nothing else")]
