"""atento export: a trained model for other programs."""

from typing import Annotated

from typer import Option

from atento.cli.options import JsonOption, OutOption, QuietOption, RunArgument
from atento.cli.output import command, emit, load_run, remark, say


def export(
    run: RunArgument,
    to: Annotated[str, Option("--to", metavar="onnx|torch-export|ct2", help="the format")] = "onnx",
    int8: Annotated[bool, Option("--int8", help="int8 weights: smaller; the loss of quality is measured")] = False,
    out: OutOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Export a trained model to ONNX, torch.export or CTranslate2, and compare its answers with those of torch.

    `atento predict` and `atento serve` use an onnx or ct2 folder without torch. --out names a new folder.
    """
    trained = load_run(run, "cpu")
    found = trained.export(to, out=out, int8=int8, tell=ignore if quiet or json else remark)
    if json:
        emit(found.to_json())
        return
    if found.largest_error is not None:
        sizes = ", ".join(f"{rows} × {length}" for rows, length in found.checked)
        when = ", before int8" if int8 else ""
        say(f"largest difference from torch{when}: {found.largest_error:.1e} (rows × length: {sizes})")
    if found.compared is not None:
        same, of = found.compared["same"], found.compared["sources"]
        say(f"the same tokens as torch for {same} of {of} sources, greedy and beam")
    if found.quality is not None:
        one = found.quality
        say(f"int8: {one['metric']} {one['before']:.4f} before, {one['after']:.4f} after")
        say(f"      on {one['examples']} {one['part']} rows")
    total = sum(found.files.values())
    say(f"{len(found.files)} files, {total / 1e6:.2f} MB, in {found.folder}")
    if to != "torch-export" and not quiet:
        remark(f"try it: {command('predict', found.folder, '-')}")


def ignore(text: str) -> None:
    """Progress that nobody wants to read."""
