"""atento evaluate, predict and try: a trained model at work."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from atento.cli.options import (
    DeviceOption,
    JsonOption,
    OutOption,
    RunArgument,
    SetOption,
    TargetOption,
    TextOption,
    with_columns,
)
from atento.cli.output import emit, load_run, print_table, remark, say, show_details

if TYPE_CHECKING:  # torch loads only when it is needed
    from atento.api.predict import Predictions
    from atento.exporting.runtime.files import ExportedPredictions


def evaluate(
    run: RunArgument,
    file: Annotated[
        str, Argument(metavar="FILE", help="a file with the true answers, or a built-in name (its test part)")
    ],
    set_: SetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    text: TextOption = "",
    target: TargetOption = "",
    json: JsonOption = False,
) -> None:
    """Measure a trained model on a file that it has not seen.

    The columns are those of the training, unless --text and --target name others.
    """
    from atento.api.folders import require_place
    from atento.api.predict import evaluate as evaluate_file
    from atento.views.wording import decimals, exposure, interval

    if out is not None:
        require_place(out, (".json",))
    trained = load_run(run, device)
    columns = with_columns(file, trained.recipe.task, set_, text=text, target=target)
    found = evaluate_file(trained.predictor, file, settings=columns)  # whose notes are in words of the command line
    if out is not None:
        from atento.bundle import write_json

        write_json(out, found.to_json())
    if json:
        emit(found.to_json())
        return
    for note in (*found.notes, *(f"left out {text}" for text in found.refused)):
        remark(note)
    rows = [
        [name, decimals(value, 4), interval(low, high, digits=4), found.metrics[name]]
        for name, (value, low, high) in found.scores.items()
    ]
    print_table(["metric", "value", "95 % interval", "what it is"], rows, numbers=("value", "95 % interval"))
    show_details(found.to_json())
    if found.exposure is not None:
        say(exposure(found.exposure))
    say(f"{found.examples} examples, {found.predictions_per_second:,.0f} answers per second")


def predict(
    run: RunArgument,
    file: Annotated[str, Argument(metavar="FILE|-", help="the file to answer; - reads lines from stdin")],
    set_: SetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    text: TextOption = "",
    proba: Annotated[bool, Option("--proba", help="add the probability of each label")] = False,
    json: JsonOption = False,
) -> None:
    """Predict for every row of a file, and give the file back with the answers in new columns.

    --out names a file of the same kind, or a .csv, .tsv, .jsonl or .parquet file; tags may also go to a .conll file.
    """
    from atento.exporting.folder import is_exported

    settings = [*([f"data.source={text}"] if text else []), *(set_ or [])]
    found: Predictions | ExportedPredictions
    if is_exported(run):  # which needs no torch
        from atento.exporting.runtime import files
        from atento.exporting.runtime.model import ExportedModel

        model = ExportedModel(run)
        if file == "-":
            found = files.predict_lines(model, typed_lines(), out=out, settings=settings, proba=proba)
        else:
            found = files.predict_file(model, file, out=out, settings=settings, proba=proba)
    else:
        trained = load_run(run, device)
        from atento.api.predict import predict_file, predict_lines  # needs torch, which a mistyped folder does not

        if file == "-":
            found = predict_lines(trained.predictor, typed_lines(), out=out, settings=settings, proba=proba)
        else:
            found = predict_file(trained.predictor, file, out=out, settings=settings, proba=proba)
    columns, refused = found.columns, list(found.refused)
    if json:
        named = str(out) if out else None
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        emit(
            {"run": str(run), "file": file, "out": named, "notes": list(found.notes), "refused": refused, "rows": rows}
        )
        return
    for note in found.notes:
        remark(note)
    for refusal in refused:
        remark(f"not answered: {refusal}")
    if out is not None:
        answered = f"{len(found.answers)} predictions" if len(found.answers) != 1 else "1 prediction"
        say(f"{answered} written to {out}")
    elif file == "-":
        for line in [*columns["prediction"]] if not proba else lines_of_columns(columns):
            print(line)
    else:
        sys.stdout.write(found.text)


def typed_lines() -> list[str]:
    """The lines of standard input that are not empty."""
    from atento.data.files.encodings import decode

    typed = decode(sys.stdin.buffer.read(), "standard input")
    for note in typed.notes:
        remark(note)
    return [line for line in typed.text.replace("\r\n", "\n").split("\n") if line.strip()]


def lines_of_columns(columns: dict[str, list[object]]) -> list[str]:
    """A table as lines with tabs between."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return ["\t".join(map(str, row)) for row in rows]


def try_(run: RunArgument, device: DeviceOption = "auto") -> None:
    """Type a text, read the answer, see where the model looked. An empty line ends."""
    from atento.views.attention.alignment import AlignmentView
    from atento.views.attention.terminal import shade

    trained = load_run(run, device)
    remark(f"{trained.recipe.model.name}; an empty line ends")
    while True:
        try:
            text = input("> ").strip()
        except EOFError:
            return
        if not text:
            return
        found = trained.explain(text)
        say(found.text)
        if found.weights.numel():
            say(shade(AlignmentView(**found.to_json()), width=terminal_width()))
        elif found.explanation:
            say(found.explanation)


def terminal_width() -> int:
    """Columns of the terminal, at least forty."""
    import shutil

    return max(40, shutil.get_terminal_size().columns)
