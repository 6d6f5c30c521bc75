"""Options that mean the same in every command."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

DataArgument = Annotated[
    str, Argument(metavar="FILE", help="a data file, two parallel files a.de,a.en, a built-in name, or a recipe.toml")
]
RunArgument = Annotated[Path, Argument(metavar="RUN", help="the folder of a trained model", show_default=False)]
ModelOption = Annotated[str, Option("--model", metavar="NAME", help="`atento models` lists them")]
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
DeviceOption = Annotated[str, Option("--device", metavar="auto|cpu|cuda", help="auto takes a GPU where there is one")]
ResumeOption = Annotated[bool, Option("--resume", help="go on where --out stopped; from the start if it never began")]
JsonOption = Annotated[bool, Option("--json", help="print one JSON document and nothing else")]
