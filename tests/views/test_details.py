"""What the scores hide, as tables: few classes whole, many by the worst; nothing where nothing is known."""

from atento.metrics.classes import one_label_report
from atento.views.details import MOST_CLASSES, detail_tables


def test_few_classes_are_shown_whole():
    report = one_label_report(["a", "a", "b"], [["a"], ["b"], ["b"]], [0.9, 0.6, 0.7])
    classes, matrix, sure = detail_tables({"class_report": report})
    assert classes.headings == ["class", "precision", "recall", "F1", "support"]
    assert classes.rows == [["b", "1.000", "0.500", "0.667", "2"], ["a", "0.500", "1.000", "0.667", "1"]]
    assert (matrix.headings, matrix.rows) == (["true", "b", "a"], [["b", "1", "1"], ["a", "0", "1"]])
    assert "expected calibration error" in sure.title
    assert [row[0] for row in sure.rows] == ["0.5–0.6", "0.6–0.7", "0.8–0.9"]


def test_of_many_classes_the_worst():
    names = [f"c{number:02d}" for number in range(20)]
    said = ["c01", "c00", *names[2:]]  # the first two are taken for each other
    classes, pairs = detail_tables({"class_report": one_label_report(said, [[name] for name in names])})
    assert len(classes.rows) == MOST_CLASSES and "of 20" in classes.title
    assert [row[:4] for row in classes.rows[:2]] == [["c00", "0.000", "0.000", "0.000"], ["c01", *["0.000"] * 3]]
    assert pairs.rows == [["c00 taken for c01", "1"], ["c01 taken for c00", "1"]]


def test_a_class_never_predicted_has_no_precision():
    (classes, _) = detail_tables({"class_report": one_label_report(["a", "a"], [["a"], ["b"]])})
    assert classes.rows[1] == ["b", "–", "0.000", "0.000", "1"]


def test_errors_in_units_and_nothing_of_nothing():
    channels = [{"channel": "Ventas", "mae": 1234.56, "rmse": 2000.0, "smape": 12.345}]
    (table,) = detail_tables({"channels": channels, "class_report": None})
    assert table.rows == [["Ventas", "1,235", "2,000", "12.3"]]
    assert detail_tables({}) == detail_tables({"channels": [], "class_report": {"classes": []}}) == []


def test_a_class_named_true_has_a_column_of_its_own():
    report = one_label_report(["true", "false"], [["true"], ["false"]])
    matrix = detail_tables({"class_report": report})[1]
    assert sorted(matrix.headings) == ["false", "true", "true class"]
