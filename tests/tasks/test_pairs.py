"""A very long text among short ones: every task keeps tokens.max_length of it, says so, and answers all the same."""

import pytest
import torch
from torch.overrides import TorchFunctionMode

from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TASKS

MOST, LONG = 11, 997
SHORT = [("red fox", "el zorro"), ("big dog", "perro"), ("red dog", "perro rojo")]
WORDS = " ".join(["red", "fox"] * LONG)
PAIRS = {
    "classify": [*((text, "ab"[place % 2]) for place, (text, _) in enumerate(SHORT)), (WORDS, "a")],
    "label": [*((text, "ab"[place % 2]) for place, (text, _) in enumerate(SHORT)), (WORDS, "a\tb")],
    "match": [*((f"{text}\tred", "yn"[place % 2]) for place, (text, _) in enumerate(SHORT)), (f"red\t{WORDS}", "y")],
    "tag": [
        *((text.replace(" ", "\t"), "A\tN") for text, _ in SHORT),
        (WORDS.replace(" ", "\t"), "A\tN" + "\tA\tN" * (LONG - 1)),
    ],
    "translate": [*SHORT, (WORDS, WORDS.replace("red", "rojo"))],
}


class LongestAxis(TorchFunctionMode):
    """Records the longest axis of any tensor that a function of torch returns."""

    def __init__(self):
        super().__init__()
        self.found = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.found = max(self.found, *result.shape, 0, 0)
        return result


@pytest.mark.parametrize("name", PAIRS)
def test_a_very_long_text_is_cut_and_told(name):
    task, pairs = TASKS[name], PAIRS[name]
    recipe = TokensRecipe(max_length=MOST, source="word", target="word")
    codec = task.learning.learn(recipe, pairs)
    told = [note for note in codec.notes if "tokens.max_length" in note]
    assert len(told) == 1 and told[0].startswith(f"1 example with a text of more than {MOST} tokens")
    again = task.learning.load(codec.to_json())
    assert task.learning.encode(again, pairs[0]) is not None and again.max_length == MOST
    torch.manual_seed(0)
    module = task.learning.build(ModelRecipe(name="gru", hidden=6, dropout=0.0), again)
    with LongestAxis() as longest:
        batch = task.learning.batch(again, [task.learning.encode(again, pair) for pair in pairs])
        task.learning.loss(module, batch, 0.0).mean.backward()
    answers = task.answering.answer(module.eval(), again, [source for source, _ in pairs], DecodeRecipe())
    assert longest.found < 200, "a tensor with an axis for each word of the text"
    assert len(answers) == len(pairs)
    if name == "tag":
        assert [len(answer.value) for answer in answers] == [2, 2, 2, 2 * LONG]
        (looked,) = (task.answering.look(module, again, pairs[-1][0], DecodeRecipe()),)
        assert len(looked.source) == len(looked.output) == MOST
        assert task.answering.trace(module, again, pairs[-1][0], DecodeRecipe())


@pytest.mark.parametrize("name", PAIRS)
def test_texts_of_usual_length_are_read_whole_without_a_note(name):
    task, pairs = TASKS[name], PAIRS[name][:-1]
    codec, short = (task.learning.learn(TokensRecipe(max_length=most), pairs) for most in (1000, 40))
    assert codec.notes == short.notes and not any("tokens.max_length" in note for note in codec.notes)
    lengths = [[task.learning.length(one, task.learning.encode(one, pair)) for pair in pairs] for one in (codec, short)]
    assert lengths[0] == lengths[1]


def test_a_folder_from_before_the_key_reads_texts_whole():
    task = TASKS["classify"]
    saved = task.learning.learn(TokensRecipe(max_length=MOST), PAIRS["classify"]).to_json()
    del saved["max_length"]
    codec = task.learning.load(saved)
    assert task.learning.length(codec, task.learning.encode(codec, PAIRS["classify"][-1])) >= 2 * LONG
