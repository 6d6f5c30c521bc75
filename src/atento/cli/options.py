"""Options that mean the same in every command."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

DataArgument = Annotated[
    str, Argument(metavar="FILE", help="a data file, two parallel files a.de,a.en, a built-in name, or a recipe.toml")
]
RunArgument = Annotated[Path, Argument(metavar="RUN", help="the folder of a trained model", show_default=False)]
ModelOption = Annotated[str, Option("--model", metavar="NAME", help="`atento models` lists them")]
TaskOption = Annotated[
    str, Option("--task", metavar="TASK", help="e.g. classify; guessed from the file when not given")
]
SetOption = Annotated[
    list[str] | None,
    Option(
        "--set", metavar="KEY=VALUE", help="change one recipe key, e.g. model.hidden=256; `atento schema` lists all"
    ),
]
SeedOption = Annotated[int | None, Option("--seed", min=0, help="one seed for split, weights, order and dropout")]
BudgetOption = Annotated[
    str | None, Option("--budget", metavar="TIME", help="time limit of the training, e.g. 90s or 5m")
]
OutOption = Annotated[Path | None, Option("--out", metavar="PATH", help="the file or folder to write")]
DeviceOption = Annotated[str, Option("--device", metavar="auto|cpu|cuda", help="auto takes a GPU where there is one")]
ClusterOption = Annotated[
    str, Option("--cluster", metavar="ADDRESS", help="spread over a Ray cluster: auto, or HOST:PORT")
]
ResumeOption = Annotated[bool, Option("--resume", help="continue the run in --out; start it if there is none")]
TrackOption = Annotated[
    str, Option("--track", metavar="A,B,…", help="also record the run in tensorboard, mlflow or wandb")
]
JsonOption = Annotated[bool, Option("--json", help="print one JSON document and nothing else")]
QuietOption = Annotated[bool, Option("--quiet", "-q", help="print the result, but no progress and no notes")]
TextOption = Annotated[str, Option("--text", metavar="COLUMN", help="the column that is read; sets data.source")]
TargetOption = Annotated[
    str, Option("--target", metavar="COLUMN", help="the column to predict; sets data.label or data.target")
]


def with_columns(file: str, task: str, settings: list[str] | None, *, text: str, target: str) -> list[str]:
    """The settings, with the columns that --text and --target name by the keys that the task has for them."""
    named = [f"data.source={text}"] if text else []
    if target:
        named.append(f"data.{target_key(file, task, text, target)}={target}")
    return [*named, *(settings or [])]


def target_key(file: str, task: str, text: str, target: str) -> str:
    """`label` where the task learns labels, else `target`; a task that is not named is guessed both ways."""
    from atento.data.evidence.evidence import gather
    from atento.data.tables.table import parsed_once
    from atento.spec import DataRecipe
    from atento.tasks.catalogue import TASKS
    from atento.tasks.finding import recognise

    if task in TASKS:
        return "label" if "label" in TASKS[task].reading.keys else "target"
    if not Path(file).exists() or file.endswith(".toml"):
        return "target"
    likelihoods = {}
    with parsed_once():
        for key in ("label", "target"):
            data = DataRecipe(train=file, source=text, **{key: target})
            evidence = gather(file, header="auto", source=text, label=data.label, others=[data.target])
            likelihoods[key] = max(guess.likelihood for guess in recognise(evidence, data).values())
    return max(likelihoods, key=likelihoods.__getitem__)
