"""atento evaluate, predict and try: a trained model at work."""

import sys
from typing import Annotated

from typer import Argument

from atento.cli.options import DeviceOption, JsonOption, OutOption, RunArgument, SetOption
from atento.cli.output import emit, print_table, remark, say


def evaluate(
    run: RunArgument,
    file: Annotated[str, Argument(metavar="FILE", help="pairs to test on, or a built-in name (its test part)")],
    set_: SetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Measure a trained model on a file it has not seen."""
    from atento import api
    from atento.api.folders import require_place
    from atento.views.wording import exposure

    if out is not None:
        require_place(out, (".json",))
    found = api.load(run, device=device).evaluate(file, settings=set_ or [])
    if out is not None:
        from atento.bundle import write_json

        write_json(out, found.to_json())
    if json:
        emit(found.to_json())
        return
    for note in (*found.notes, *(f"left out {text}" for text in found.refused)):
        remark(note)
    rows = [
        [name, f"{value:.4f}", f"{low:.4f}–{high:.4f}", found.metrics[name]]
        for name, (value, low, high) in found.scores.items()
    ]
    print_table(["metric", "value", "95 % interval", "what it is"], rows, numbers=("value", "95 % interval"))
    if found.exposure is not None:
        say(exposure(found.exposure))
    say(f"{found.examples} examples, {found.predictions_per_second:,.0f} answers a second")


def predict(
    run: RunArgument,
    file: Annotated[str, Argument(metavar="FILE|-", help="a file whose sources to answer; - reads lines from stdin")],
    set_: SetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Answer every source of a file; its columns are kept. --out names a .csv, .tsv, .jsonl, .parquet or,
    of tags, .conll file.
    """
    from atento import api
    from atento.api.predict import predict_file, predict_lines
    from atento.data.files.encodings import decode
    from atento.data.tables.writing import as_csv

    trained = api.load(run, device=device)
    refused: list[str] = []
    if file == "-":
        typed = decode(sys.stdin.buffer.read(), "standard input")
        for note in typed.notes:
            remark(note)
        lines = [line for line in typed.text.replace("\r\n", "\n").split("\n") if line.strip()]
        columns = predict_lines(trained.predictor, lines, out=out, settings=set_ or []).columns
    else:
        columns = predict_file(
            trained.predictor, file, out=out, settings=set_ or [], on_event=lambda event: refused.append(event["text"])
        ).columns
    if json:
        named = str(out) if out else None
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        emit({"run": str(run), "file": file, "out": named, "refused": refused, "rows": rows})
        return
    for text in refused:
        remark(f"left out {text}")
    if out is not None:
        say(f"{len(next(iter(columns.values())))} predictions written to {out}")
    elif file == "-":
        for text in columns["prediction"]:
            print(text)
    else:
        sys.stdout.write(as_csv(columns).decode())


def try_(run: RunArgument, device: DeviceOption = "auto") -> None:
    """Type a text, read the answer, see where the model looked. An empty line ends."""
    from atento import api
    from atento.views.attention.alignment import AlignmentView
    from atento.views.attention.terminal import shade

    trained = api.load(run, device=device)
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


def terminal_width() -> int:
    """Columns of the terminal, at least forty."""
    import shutil

    return max(40, shutil.get_terminal_size().columns)
