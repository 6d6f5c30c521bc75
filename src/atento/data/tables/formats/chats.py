"""Conversations in JSON as a prompt and the response to it: a list of messages by a user and an assistant, or an
instruction with an input.
"""

from collections.abc import Sequence
from typing import Any

CHATS = ("messages", "conversations", "conversation")  # keys of the list
ROLES, TEXTS = ("role", "from"), ("content", "value")  # keys of a message: who says it, and what
ASSISTANT = frozenset({"assistant", "gpt", "model", "bot", "chatgpt"})
INPUTS, OUTPUTS = ("input", "context"), ("output", "response")  # beside `instruction`, as Alpaca and Dolly name them
SYSTEM = frozenset({"system", "developer", "tool"})


def flat_chat(value: Any, wanted: Sequence[str] = ()) -> Any:
    """An object with `prompt` and `response` for its list of messages: the last answer of the assistant, and what the
    two said before it; or for its instruction and input; any other value as it is. `wanted` are keys that the user
    named.
    """
    if isinstance(value, dict) and isinstance(value.get("instruction"), str):
        return value if {"instruction", "output", *INPUTS} & {*wanted} else flat_instruction(value)
    if not isinstance(value, dict) or value.keys().isdisjoint(CHATS):
        return value
    key = next((key for key in CHATS if isinstance(value.get(key), list)), "")
    messages = [message_of(one) for one in value[key]] if key else []
    said = [one for one in messages if one is not None]
    answers = [at for at, (role, _) in enumerate(said) if role in ASSISTANT]
    if not answers or len(said) < len(messages):
        return value
    before = [text for role, text in said[: answers[-1]] if role not in SYSTEM]
    others = {name: inner for name, inner in value.items() if name != key}
    return {**others, "prompt": "\n".join(before), "response": said[answers[-1]][1]}


def flat_instruction(value: dict[str, Any]) -> dict[str, Any]:
    """An object with `prompt` for its instruction and the input below it, which may be empty."""
    given = next((key for key in INPUTS if isinstance(value.get(key), str)), "")
    answer = next((key for key in OUTPUTS if isinstance(value.get(key), str)), "")
    if not given:
        return value
    others = {name: inner for name, inner in value.items() if name not in ("instruction", given, answer)}
    prompt = "\n".join(text for text in (value["instruction"], value[given]) if text.strip())
    return {**others, "prompt": prompt, **({"response": value[answer]} if answer else {})}


def message_of(message: Any) -> tuple[str, str] | None:
    """Who says what; None for anything but a message."""
    if not isinstance(message, dict):
        return None
    role, text = (next((message[key] for key in keys if key in message), None) for keys in (ROLES, TEXTS))
    text = "\n".join(parts_of(text)) if isinstance(text, list) else text
    return (role.lower(), text) if isinstance(role, str) and isinstance(text, str) else None


def parts_of(parts: Sequence[Any]) -> list[str]:
    """The texts among the parts of a message, which may also be images."""
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
