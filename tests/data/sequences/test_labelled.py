"""Sequences in cells: lists and texts of numbers in every kind of table, one channel or several."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from atento.data.sequences.labelled import unlisted
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.sequences import LABELLED_SEQUENCES, TRANSCRIBED

CASES = [([[n + 0.5, -n], [n + 1.25, 2]] + [[0.0, n]] * (n % 3), "ab"[n % 2]) for n in range(6)]  # (T, 2) and a label
EXPECTED = [(" ".join(",".join(map(str, step)) for step in steps), label) for steps, label in CASES]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def numbers(pairs):
    return [(require_numbers(source).tolist(), label) for source, label in pairs]


def written(tmp_path, kind):
    """The same cases in one kind of file."""
    path = tmp_path / f"cases.{kind.split(' ')[-1]}"
    turned = [[list(channel) for channel in zip(*steps, strict=True)] for steps, _ in CASES]
    match kind:
        case "lists jsonl":
            path.write_text(jsonl({"signal": steps, "kind": label} for steps, label in CASES))
        case "channels jsonl":
            path.write_text(
                jsonl({"x": x, "y": y, "kind": label} for (x, y), (_, label) in zip(turned, CASES, strict=True))
            )
        case "parquet":
            columns = {"signal": [steps for steps, _ in CASES], "kind": [label for _, label in CASES]}
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
        case "csv":
            path.write_text("signal,kind\n" + "".join(f'"{source}",{label}\n' for source, label in EXPECTED))
    return str(path)


@pytest.mark.spec("K02")
@pytest.mark.parametrize("kind", ["lists jsonl", "channels jsonl", "parquet", "csv"])
def test_the_same_cases_from_every_kind_of_file(tmp_path, kind):
    pairs = LABELLED_SEQUENCES.rows(DataRecipe(), written(tmp_path, kind)).pairs
    assert numbers(pairs) == numbers(EXPECTED)


def test_lists_a_channel_are_turned_and_that_is_said(tmp_path):
    rows = [{"signal": [[1, 2, 3], [4, 5, 6]], "kind": label} for label in "abab"]
    (tmp_path / "turned.jsonl").write_text(jsonl(rows))
    read = LABELLED_SEQUENCES.rows(DataRecipe(), str(tmp_path / "turned.jsonl"))
    assert read.pairs[0][0] == "1,4 2,5 3,6"
    assert "'signal' holds a list a channel; --set data.time=1 takes the other axis" in read.notes
    assert LABELLED_SEQUENCES.rows(DataRecipe(time="1"), str(tmp_path / "turned.jsonl")).pairs[0][0] == "1,2,3 4,5,6"


@pytest.mark.parametrize(
    "name, text, place",
    [
        ("gap.jsonl", jsonl([{"s": [1, None, 3], "k": "a"}, {"s": [1, 2], "k": "b"}] * 3), r"gap\.jsonl:1:7: step 2"),
        (
            "gap.jsonl",
            jsonl([{"s": [[1, 2], [3, None]], "k": "ab"[n % 2]} for n in range(4)]),
            r"1:7: step 2 of channel 2",
        ),
        ("gap.csv", "s,k\n1 2,a\n1 nan 3,b\n1 2,a\n3 4,b\n", r"gap\.csv:3:3: step 2 is missing"),
        (
            "gap.csv",
            's,k\n"1,2 2,2",a\n"1,2 3,nan",b\n"1,2 2,2",a\n"1,2 2,1",b\n',
            r"gap\.csv:3:8: step 2 of channel 2",
        ),
    ],
)
def test_missing_numbers_stop_at_their_place_or_are_filled(tmp_path, name, text, place):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=place) as caught:
        LABELLED_SEQUENCES.rows(DataRecipe(), str(tmp_path / name))
    assert "data.gaps=linear" in str(caught.value)
    filled = LABELLED_SEQUENCES.rows(DataRecipe(gaps="previous"), str(tmp_path / name))
    assert filled.notes[-1].endswith("filled (data.gaps=previous)")
    assert all(numbers(filled.pairs))


def test_a_sequence_of_another_width_is_refused(tmp_path):
    (tmp_path / "width.csv").write_text('s,k\n"1,2 2,2",a\n"1 2",b\n"1,2 2,2",a\n"1,2 2,1",b\n')
    with pytest.raises(InputError, match=r"width\.csv:3:2: step 1 has 1 channels where 2 are read"):
        LABELLED_SEQUENCES.rows(DataRecipe(), str(tmp_path / "width.csv"))


def test_channels_of_unlike_length_are_refused(tmp_path):
    (tmp_path / "uneven.jsonl").write_text(
        jsonl([{"x": [1, 2], "y": [1, 2, 3], "k": "a"}, {"x": [1, 2], "y": [3, 4], "k": "b"}])
    )
    with pytest.raises(InputError, match=r"uneven\.jsonl:1:7: channels have unlike numbers of steps"):
        LABELLED_SEQUENCES.rows(DataRecipe(label="k"), str(tmp_path / "uneven.jsonl"))


def test_a_column_a_step_where_the_user_says_so(tmp_path):
    (tmp_path / "few.csv").write_text("before,after,kind\n1,2,a\n3,4,b\n5,6,a\n7,8,b\n")
    assert LABELLED_SEQUENCES.rows(DataRecipe(label="kind"), str(tmp_path / "few.csv")).pairs[1] == ("3 4", "b")


def test_without_sequences_or_without_labels_the_message_says_what_to_name(tmp_path):
    (tmp_path / "texts.csv").write_text("text,kind\nhello there,a\nand you,b\n")
    with pytest.raises(InputError, match="no column holds sequences of numbers"):
        LABELLED_SEQUENCES.rows(DataRecipe(), str(tmp_path / "texts.csv"))
    (tmp_path / "bare.jsonl").write_text(jsonl([{"s": [n, 1], "t": f"name {n}"} for n in range(50)]))
    with pytest.raises(InputError, match="no column looks like a label"):
        LABELLED_SEQUENCES.rows(DataRecipe(), str(tmp_path / "bare.jsonl"))


def test_texts_beside_sequences_and_files_to_answer(tmp_path):
    (tmp_path / "frames.jsonl").write_text(jsonl([{"frames": [n, 1, 2], "said": f"word {n}"} for n in range(5)]))
    read = TRANSCRIBED.rows(DataRecipe(), str(tmp_path / "frames.jsonl"))
    assert read.pairs[2] == ("2 1 2", "word 2")
    opened = LABELLED_SEQUENCES.read_unlabelled(DataRecipe(), str(tmp_path / "frames.jsonl"), 0)
    assert opened.sources[1] == "1 1 2"
    roles = LABELLED_SEQUENCES.rows(DataRecipe(), written(tmp_path, "csv")).roles
    assert dict(roles) == {"signal": "sequence", "kind": "label"}


def test_a_list_in_a_cell():
    assert unlisted("1\t\t3") == "1 nan 3"
    assert unlisted("1 2\t3 4") == "1,2 3,4"
    assert unlisted("1 2\t3 4", channels_first=True) == "1,3 2,4"
    assert unlisted(" 1,2 3,4 ") == "1,2 3,4"
