"""The list of command-line options is frozen on purpose: a new one is a decision, not an accident.

One `--set KEY=VALUE` serves every recipe key; before adding an option here, see whether it should be a key.
"""

import typer.main

from atento.cli.app import app

FROZEN = {
    "demo": "--budget --no-browser --json",
    "compare": "--models --task --set --seed --seeds --budget --finish --device --out --resume --text --target --quiet "
    "--json --track --cluster",
    "train": "--model --task --set --seed --budget --device --devices --nodes --strategy --out --resume --from --text "
    "--target --quiet --json --track",
    "tune": "--model --task --set --seed --budget --device --cluster --out --resume --text --target --quiet --json "
    "--track",
    "backtest": "--models --origins --refit --set --seed --budget --device --out --quiet --json",
    "studio": "--host --port --token --no-browser",
    "stop": "--pause --json",
    "evaluate": "--set --device --out --text --target --json",
    "predict": "--set --device --out --text --proba --json",
    "try": "--device",
    "look": "--what --with --device --out --json",
    "check": "--json",
    "report": "--out --json",
    "serve": "--host --port --token --limit --device",
    "export": "--to --int8 --out --quiet --json",
    "inspect": "--task --set --text --target --json",
    "recipe": "--model --task --set --budget --device --text --target --all --json",
    "runs": "--json",
    "data": "--count --json",
    "models": "--json",
    "parts": "--what --out --json",
    "schema": "--json",
    "doctor": "--json",
}


def options_of(command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")} - {"--help"}


def test_commands_and_options_are_those_we_chose():
    found = {name: options_of(command) for name, command in typer.main.get_command(app).commands.items()}
    assert found == {name: set(options.split()) for name, options in FROZEN.items()}


def test_shared_options_mean_the_same_everywhere():
    meanings: dict[str, set[str]] = {}
    for command in typer.main.get_command(app).commands.values():
        for parameter in command.params:
            for name in parameter.opts:
                if name in (
                    "--seed",
                    "--budget",
                    "--out",
                    "--set",
                    "--json",
                    "--device",
                    "--task",
                    "--resume",
                    "--track",
                    "--quiet",
                    "--text",
                    "--target",
                ):
                    meanings.setdefault(name, set()).add(parameter.help)
    assert {name: len(helps) for name, helps in meanings.items()} == dict.fromkeys(meanings, 1)
