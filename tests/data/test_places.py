"""Every format knows where each cell begins, and where a row ends."""

import random

from tests.data.mutated_files import FORMATS

from atento.data import read_source


def test_cells_have_places_and_a_cell_past_the_last_one_too(tmp_path):
    for kind in FORMATS:
        (tmp_path / kind.name).write_bytes(kind.make(random.Random(1)))
        table = read_source(str(tmp_path / kind.name))
        for row in (0, len(table.rows) // 2, len(table.rows) - 1):
            places = [table.place(row, column) for column in range(len(table.columns) + 1)]
            assert all(place.line >= 1 and place.column >= 1 for place in places), kind.name
            if kind.name.endswith((".csv", ".tsv", ".conllu")):
                columns = [place.column for place in places]
                assert columns == sorted(set(columns)), kind.name
