"""Advice in words of Python: messages are written for the command line, and Python users write arguments instead."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from atento.data.files.memory import SCHEME
from atento.errors import AtentoError, Interrupted

COMMAND = re.compile(r"atento (train|compare|tune|backtest|inspect) ('[^']*'|\S+)((?: --\w[\w-]*(?: (?!--)\S+)?)*)")
SETTINGS = re.compile(r"--set [\w.]+=[^\s,;)]+(?: --set [\w.]+=[^\s,;)]+)*")
OPTION = re.compile(r"--(task|model|models|budget|device|out|seed|seeds|origins)[ =]([^\s,;)]+)")
NAME = re.compile(rf"{SCHEME}\w+/([\w-]+)\.jsonl")


def in_python(text: str) -> str:
    """Advice for the command line in words of Python: `--set a=b` is `settings={"a": "b"}`."""
    text = COMMAND.sub(lambda found: as_call(found[1], found[3]), text)
    text = SETTINGS.sub(lambda found: arguments(found[0]), text)
    text = OPTION.sub(lambda found: arguments(found[0]), text)
    return NAME.sub(lambda found: found[1], text)


def as_call(verb: str, options: str) -> str:
    """A command as a call."""
    also = arguments(options)
    return f"atento.{'fit' if verb == 'train' else verb}(data{', ' if also else ''}{also})"


def arguments(options: str) -> str:
    """`--out a --set b=c --resume` as arguments of a function."""
    settings, others = {}, []
    for option in re.findall(r"--(\w[\w-]*)(?:[ =](?!--)(\S+))?", options):
        name, value = option
        if name == "set":
            key, _, value = value.partition("=")
            settings[key] = value
        else:
            others.append(f'{name}="{value}"' if value else f"{name}=True")
    pairs = ", ".join(f'"{key}": "{value}"' for key, value in settings.items())
    return ", ".join([*others, *([f"settings={{{pairs}}}"] if pairs else [])])


@contextmanager
def advice_in(words: Callable[[str], str]) -> Iterator[None]:
    """Errors in other words."""
    try:
        yield
    except Interrupted as error:
        raise Interrupted(error.exit_code - 128, error.problem, fix=words(error.fix)) from None
    except AtentoError as error:
        problem, found, fix = (words(part) for part in (error.problem, error.found, error.fix))
        told = type(error)(problem, found=found, fix=fix, settings=error.settings, choices=error.choices)
        raise told from error.__cause__
