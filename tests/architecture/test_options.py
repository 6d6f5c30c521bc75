"""The list of command-line options is frozen on purpose: a new one is a decision, not an accident.

One `--set KEY=VALUE` serves every recipe key; before adding an option here, see whether it should be a key.
"""

import typer.main

from atento.cli.app import app

FROZEN = {
    "compare": "--models --task --set --seed --seeds --budget --device --out --resume --text --target --quiet --json",
    "train": "--model --task --set --seed --budget --device --out --resume --from --text --target --quiet --json",
    "tune": "--model --task --set --seed --budget --device --out --resume --text --target --quiet --json",
    "backtest": "--models --origins --refit --set --seed --budget --device --out --quiet --json",
    "evaluate": "--set --device --out --json",
    "predict": "--set --device --out --proba --json",
    "try": "--device",
    "look": "--what --device --out --json",
    "check": "--json",
    "report": "--out --json",
    "inspect": "--task --set --json",
    "recipe": "--model --task --set --budget --device --text --target --all --json",
    "runs": "--json",
    "data": "--count --json",
    "models": "--json",
    "parts": "--out --json",
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
                    "--quiet",
                    "--text",
                    "--target",
                ):
                    meanings.setdefault(name, set()).add(parameter.help)
    assert {name: len(helps) for name, helps in meanings.items()} == dict.fromkeys(meanings, 1)
