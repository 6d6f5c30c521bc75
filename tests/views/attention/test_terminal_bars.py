from atento.views.attention.terminal import NamedCount, bar, bars, columns_of


def test_a_bar_is_exact_to_an_eighth():
    assert [bar(part / 8, width=1) for part in range(9)] == ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]
    assert bar(0.5, width=9) == "████▌"
    assert bar(1e-9, width=9) == "▏", "what is more than nothing shows"


def test_columns_stand_under_each_other():
    rows = [
        NamedCount("joy", 1200, 0.75),
        NamedCount("电影", 4, 0.0025),
        NamedCount("a label too long to be shown whole", 0, 0.0),
    ]
    lines = bars(rows, width=8)
    assert len({columns_of(line) for line in lines}) == 1
    assert lines[0].endswith("████████  1,200   75.0 %")
    assert lines[1].rstrip().endswith("4    0.2 %")
    assert "…" in lines[2]
    assert bars([]) == []
