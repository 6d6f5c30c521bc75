import pytest
from tests.tasks.shapes import SHAPES

from atento.data.examples.pairs import find_inflection, kinship, shared_pairs
from atento.data.tables.table import read_table


def test_the_columns_are_found_in_either_order(tmp_path):
    table = read_table(SHAPES["translate"]["inflection"](tmp_path))
    assert find_inflection(table) == (0, 1, 2)
    later = read_table(SHAPES["translate"]["inflection, form last"](tmp_path))
    assert find_inflection(later) == (0, 2, 1)
    path = tmp_path / "named.tsv"
    lines = [f"{row[1]}\t{row[2]}\t{row[0]}" for row in table.rows]
    path.write_text("form\tfeatures\tlemma\n" + "\n".join(lines) + "\n")
    assert find_inflection(read_table(str(path))) == (2, 0, 1)


@pytest.mark.parametrize("task, shape", [("label", "numbers and ids"), ("match", "premise"), ("classify", "bars")])
def test_other_tables_have_none(task, shape, tmp_path):
    assert find_inflection(read_table(SHAPES[task][shape](tmp_path))) is None


def test_kinship_by_hand():
    assert shared_pairs("cantar", "cantado") == 4 / 5  # of ca an nt ta ar all but ar
    assert shared_pairs("a", "a") == 1
    assert kinship(["cantar", ""], ["xyz", "b"]) == 0
    assert kinship([], []) == 0
