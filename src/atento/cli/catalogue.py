"""atento data, models, parts and schema: what there is."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from atento.cli.options import JsonOption, OutOption
from atento.cli.output import command, emit, print_table, say

LONGEST_SHOWN = 90  # letters of an example


def data(
    name: Annotated[str, Argument(metavar="NAME", help="a built-in set to show examples of")] = "",
    count: Annotated[int, Option("--count", min=1, help="how many examples")] = 8,
    json: JsonOption = False,
) -> None:
    """List the built-in data sets, or show examples of one."""
    from atento.data.builtin.catalogue import BUILTIN
    from atento.errors import unknown_name
    from atento.spec import DataRecipe
    from atento.views.wording import shortened

    if name and name not in BUILTIN:
        raise unknown_name("built-in data set", name, BUILTIN)
    if name:
        parts_ = BUILTIN[name].make(DataRecipe(train=name), 0)
        pairs = parts_.train[:count]
        if json:
            emit({"name": name, "notes": list(parts_.notes), "examples": [list(pair) for pair in pairs]})
            return
        for note in parts_.notes:
            say(note)
        print_table(["source", "target"], [[shortened(text, LONGEST_SHOWN) for text in pair] for pair in pairs])
        say(f"next: {command('compare', name)}")
        return
    if json:
        facts = ("task", "summary", "settings")
        emit({"data": [{"name": key} | {fact: getattr(one, fact) for fact in facts} for key, one in BUILTIN.items()]})
        return
    shown = [
        [key, one.task, f"{one.summary} (--set {one.settings})" if one.settings else one.summary]
        for key, one in BUILTIN.items()
    ]
    print_table(["name", "task", "what it is"], shown, expendable=("task",))


def models(json: JsonOption = False) -> None:
    """List model families, and how a name composes one."""
    from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES
    from atento.models.names import FAMILIES, FORECASTERS, IMAGE_ENCODERS, SUFFIXES
    from atento.tasks.baselines import baseline_makers
    from atento.tasks.catalogue import TASKS

    compared = {name: list(task.defaults.models) for name, task in TASKS.items()}
    simple = {name: list(baseline_makers(task)) for name, task in TASKS.items()}
    families = {**FAMILIES, **FORECASTERS, **IMAGE_ENCODERS}
    if json:
        composed = {"scores": list(SCORES), "distributions": list(DISTRIBUTIONS), "extents": list(EXTENTS)}
        emit({"families": families, **composed, "suffixes": SUFFIXES, "compared": compared, "baselines": simple})
        return
    print_table(["family", "what it is"], [list(item) for item in families.items()])
    say("\nA name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT], or ENCODER/DECODER of two such names:")
    say(f"  scores         {', '.join(SCORES)}")
    say(f"  distributions  {', '.join(DISTRIBUTIONS)}")
    say(f"  extents        {', '.join(EXTENTS)}; or, in place of one, linformer")
    say("  for example    lstm+additive+sparsemax, transformer+general, transformer/gru+dot")
    say("and, in one task alone, a suffix:")
    for name, meaning in SUFFIXES.items():
        say(f"  +{name:{max(map(len, SUFFIXES))}}  {meaning}")
    for task, names in compared.items():
        say(f"\n`atento compare` trains for {task}: {', '.join(names)}")
        say(f"  and fits the simple baselines {', '.join(simple[task])}")


def parts(
    what: Annotated[
        str,
        Option(
            "--what",
            metavar="VIEW",
            help="attention; positions: position encodings; schedules: learning-rate schedules",
        ),
    ] = "attention",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """List the parts of attention with formula, paper and cost; or show position encodings or schedules.

    --out image.png draws what each part does.
    """
    if what in ("positions", "schedules"):
        show_untrained(what, out, json=json)
        return
    if what != "attention":
        from atento.errors import unknown_name

        raise unknown_name("choice", what, ("attention", "positions", "schedules"), where="--what")
    from atento.attention.presets import TABLES
    from atento.blocks.presets import ARRANGEMENTS, POOLINGS
    from atento.layers.regularization import REGULARIZERS

    tables = {**TABLES, "pooling": POOLINGS, "arrangement": ARRANGEMENTS, "training": REGULARIZERS}
    found = [
        {"kind": kind, "name": name, "formula": part.formula, "paper": part.paper, "cost": part.cost}
        for kind, table in tables.items()
        for name, part in table.items()
    ]
    if out is not None:
        from atento.views.attention.patterns import patterns_figure

        patterns_figure(out)
    if json:
        emit({"parts": found})
        return
    headings = ["kind", "name", "formula", "paper", "cost per query"]
    print_table(headings, [list(part.values()) for part in found], expendable=("paper", "kind", "cost per query"))
    from atento.attention.fast.gpu.plan import names_without_plug

    without = ", ".join(names_without_plug())
    say(f"\nOn a GPU one kernel computes any score, distribution and extent together; other paths take: {without}.")
    say("In Python, attention.plan(query, key) says which path a call takes, and why.")
    if out is not None:
        say(f"written to {out}")


def show_untrained(what: str, out: Path | None, *, json: bool) -> None:
    """Position encodings or learning-rate schedules, without a model."""
    from atento.api.explain.model import all_schedules
    from atento.views.model.positions import all_positions, positions_text
    from atento.views.model.schedules import schedules_text

    words: str
    if what == "positions":
        positions = all_positions()
        view, words = positions, positions_text(positions)
    else:
        schedules = all_schedules()
        view, words = schedules, schedules_text(schedules)  # type: ignore[assignment]
    if out is not None:
        view.save(out)
    if json:
        emit(view.to_json())
        return
    say(words)
    if out is not None:
        say(f"written to {out}")


def schema(json: JsonOption = False) -> None:
    """List every recipe key with its kind, default and meaning."""
    from atento.spec import Recipe, keys

    if json:
        emit(Recipe.model_json_schema())
        return
    rows = [[key.name, key.kind, str(key.default), key.description] for key in keys()]
    print_table(["key", "kind", "default", "meaning"], rows, expendable=("kind", "default"))
