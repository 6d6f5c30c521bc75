"""Another file is read by the columns of the training, refused without them, and never guessed in silence."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from atento.api.columns import find_columns
from atento.bundle import Bundle
from atento.errors import InputError
from atento.spec import Recipe
from atento.tasks.catalogue import TASKS

ROWS = [("good film", "pos"), ("bad film", "neg"), ("fine plot", "pos"), ("dull plot", "neg")]


def run_of(task, columns, header, *, labels=("neg", "pos")):
    """What a run remembers of its training, without a model."""
    codec = SimpleNamespace(output=SimpleNamespace(labels=labels))
    facts = {"data": {"columns": columns, "header": header}}
    return Bundle(Path("run"), TASKS[task], Recipe(task=task), codec, None, facts)


CLASSIFY = run_of("classify", {"source": "review", "label": "opinion"}, ["id", "review", "opinion"])
TRANSLATE = run_of("translate", {"source": "en", "target": "es"}, ["en", "es"])
MATCH = run_of("match", {"source": "one", "target": "two", "label": "sigue"}, ["one", "two", "sigue"])


def table(*columns):
    """A CSV file with these columns: texts, but for columns of labels and numbers."""
    cells = {"opinion": [label for _, label in ROWS], "mood": [label for _, label in ROWS], "id": list("1234")}
    rows = zip(*(cells.get(name, [text for text, _ in ROWS]) for name in columns), strict=True)
    return ",".join(columns) + "\n" + "".join(",".join(row) + "\n" for row in rows)


BARE = "".join(f"{number},{text},{label}\n" for number, (text, label) in enumerate(ROWS))

TAKEN = [  # run, file, whether it is evaluated, what data.* says then, words of the note
    (CLASSIFY, table("opinion", "title", "review"), True, {"source": "review", "label": "opinion"}, ""),
    (CLASSIFY, table("title", "review"), False, {"source": "review", "label": ""}, ""),
    (CLASSIFY, table("words"), False, {"source": "words"}, "only column 'words'"),
    (CLASSIFY, BARE, True, {"source": "2", "label": "3"}, "by position, as it has no header: column '2'"),
    (TRANSLATE, table("es", "en"), True, {"source": "en", "target": "es"}, ""),
    (TRANSLATE, table("en"), False, {"source": "en"}, ""),
    (MATCH, table("two", "one"), False, {"source": "one", "target": "two"}, ""),
]
REFUSED = [  # run, file, whether it is evaluated, what is missing, the fix
    (CLASSIFY, table("id", "title", "text"), False, "'review'", "data.source="),
    (CLASSIFY, table("id", "Reviews", "opinion"), True, "'review'", "data.source=Reviews"),
    (CLASSIFY, table("review", "mood"), True, "'opinion'", "data.label=mood"),
    (CLASSIFY, table("review", "title"), True, "'opinion'", "atento predict answers the file"),
    (CLASSIFY, "".join(f"{text},{label}\n" for text, label in ROWS), False, "'review'", "data.source=1"),
    (TRANSLATE, table("de", "fr"), False, "'en'", "data.source="),
    (MATCH, table("one", "three"), False, "'two'", "data.target="),
]


@pytest.mark.parametrize("run, content, labelled, expected, note", TAKEN)
def test_the_columns_of_the_training_or_the_only_way(tmp_path, run, content, labelled, expected, note):
    (tmp_path / "f.csv").write_text(content)
    found = find_columns(run, run.recipe, str(tmp_path / "f.csv"), given=(), labelled=labelled)
    assert {key: getattr(found.recipe.data, key) for key in expected} == expected
    assert (note in " ".join(found.notes)) if note else found.notes == ()


@pytest.mark.parametrize("run, content, labelled, gone, fix", REFUSED)
def test_a_file_without_them_is_refused(tmp_path, run, content, labelled, gone, fix):
    (tmp_path / "f.csv").write_text(content)
    with pytest.raises(InputError, match=f"no column {gone}, which the model was trained on") as caught:
        find_columns(run, run.recipe, str(tmp_path / "f.csv"), given=(), labelled=labelled)
    assert fix in caught.value.fix
    if caught.value.settings:  # the fix is right: what it names is there
        key, value = next(iter(caught.value.settings.items()))
        recipe = run.recipe.with_values({key: value})
        assert find_columns(run, recipe, str(tmp_path / "f.csv"), given=[key], labelled=labelled).recipe


def test_what_the_user_names_is_taken(tmp_path):
    (tmp_path / "f.csv").write_text(table("title", "text"))
    recipe = CLASSIFY.recipe.with_values({"data.source": "title"})
    found = find_columns(CLASSIFY, recipe, str(tmp_path / "f.csv"), given=["data.source"], labelled=False)
    assert (found.recipe.data.source, found.notes) == ("title", ())
