"""pandas, R, SAS, SPSS and Stata."""

import random
from datetime import datetime, timedelta
from pathlib import Path

from tests.journeys.real_files.contents import (
    Expected,
    days,
    lines,
    mean,
    months,
    real,
    reviews,
    seasonal,
    sentence,
    write,
)


@real("pandas to_csv with its index")
def pandas_index(folder: Path) -> Expected:
    rows = [[str(at), text, label] for at, (text, label) in enumerate(reviews(120))]
    return Expected(
        write(folder, "df.csv", lines([["", "text", "label"], *rows], ",")),
        "classify",
        {"text": "text", "label": "label"},
        rows=120,
        labels=("neg", "pos"),
    )


@real("pandas to_csv saved twice")
def pandas_twice(folder: Path) -> Expected:
    rows = [[str(at), str(at), text, label] for at, (text, label) in enumerate(reviews(120))]
    return Expected(
        write(folder, "df2.csv", lines([["", "Unnamed: 0", "review", "sentiment"], *rows], ",")),
        "classify",
        {"text": "review", "label": "sentiment"},
        rows=120,
        labels=("neg", "pos"),
    )


@real("pandas to_csv of a Series with dates")
def pandas_series(folder: Path) -> Expected:
    """An index without a name and a column named 0."""
    values = seasonal(140, base=20, swing=6, period=7)
    body = [[f"{day} 00:00:00", str(value)] for day, value in zip(days(140), values, strict=True)]
    return Expected(
        write(folder, "s.csv", lines([["", "0"], *body], ",")),
        "forecast",
        {"time": "1", "target": "0"},
        rows=140,
        frequency="1d",
        means={"0": mean(values)},
    )


@real("pandas to_csv with lists and NaN")
def pandas_lists(folder: Path) -> Expected:
    draw = random.Random(4)
    topics = ("food", "room", "staff", "price")
    rows = [
        [sentence(draw), str(sorted(draw.sample(topics, draw.randint(1, 3)))), draw.choice(("True", "False")), ""]
        for _ in range(150)
    ]
    return Expected(
        write(folder, "topics.csv", lines([["text", "labels", "verified", "note"], *rows], ",")),
        "label",
        {"text": "text", "labels": "labels"},
        rows=150,
        labels=tuple(sorted(topics)),
    )


@real("R write.csv")
def r_write_csv(folder: Path) -> Expected:
    """Everything that is text is quoted, the row names too; NA is bare."""
    rows = reviews(120)
    body = "".join(
        f'"{at}","{text}",{at % 60 if at % 9 else "NA"},"{label}"\n' for at, (text, label) in enumerate(rows, start=1)
    )
    return Expected(
        write(folder, "reviews.csv", f'"","review","age","class"\n{body}'),
        "classify",
        {"text": "review", "label": "class"},
        rows=120,
        labels=("neg", "pos"),
    )


@real("R write.csv2")
def r_write_csv2(folder: Path) -> Expected:
    values = seasonal(120, base=8, swing=4, period=12, digits=3)
    body = "".join(
        f'"{at}";{day};{value:.3f}\n'.replace(".", ",")
        for at, (day, value) in enumerate(zip(months(120), values, strict=True), start=1)
    )
    return Expected(
        write(folder, "y.csv", f'"";"month";"rate"\n{body}'),
        "forecast",
        {"time": "month", "target": "rate"},
        rows=120,
        frequency="1mo",
        means={"rate": mean(values)},
        says=("decimal",),
    )


@real("R write.table")
def r_write_table(folder: Path) -> Expected:
    """Blanks between the cells, and a header that is one name short."""
    values = seasonal(120, base=8, swing=4, period=12, digits=3)
    body = "".join(
        f'"{at}" {day} {value}\n' for at, (day, value) in enumerate(zip(months(120), values, strict=True), start=1)
    )
    return Expected(
        write(folder, "y.txt", f'"month" "rate"\n{body}'),
        "forecast",
        {"time": "month", "target": "rate"},
        rows=120,
        frequency="1mo",
        means={"rate": mean(values)},
    )


@real("SAS PROC EXPORT")
def sas_export(folder: Path) -> Expected:
    """DATE9. dates, a period for what is missing."""
    values = seasonal(120, base=5200, swing=900, period=12)
    cells = [f"{value}" for value in values]
    cells[25] = "."
    body = [[day.strftime("%d%b%Y").upper(), "NORTH", cell] for day, cell in zip(months(120), cells, strict=True)]
    return Expected(
        write(folder, "SALES.csv", lines([["DATE", "REGION", "AMOUNT"], *body], ","), newline="\r\n"),
        "forecast",
        {"time": "DATE", "target": "AMOUNT"},
        rows=120,
        frequency="1mo",
        means={"AMOUNT": mean(value for at, value in enumerate(values) if at != 25)},
        refused=True,
        key="data.gaps=previous",
        because="AMOUNT",
    )


@real("SAS DATETIME.")
def sas_datetime(folder: Path) -> Expected:
    values = seasonal(160, base=52, swing=9, period=24)
    first = datetime(2020, 1, 1)
    body = [
        [(first + timedelta(hours=at)).strftime("%d%b%Y:%H:%M:%S").upper(), str(value)]
        for at, value in enumerate(values)
    ]
    return Expected(
        write(folder, "LOAD.csv", lines([["DT", "LOAD"], *body], ","), newline="\r\n"),
        "forecast",
        {"time": "DT", "target": "LOAD"},
        rows=160,
        frequency="1h",
        means={"LOAD": mean(values)},
    )


@real("SPSS save as CSV")
def spss(folder: Path) -> Expected:
    """A mark, value labels in place of codes, and #NULL! for what is missing."""
    rows = reviews(120, labels=("Strongly agree", "Neither agree nor disagree", "Strongly disagree"))
    body = [
        [f"{at}.00", "#NULL!" if at % 11 == 0 else str(20 + at % 50), text, label]
        for at, (text, label) in enumerate(rows, start=1)
    ]
    return Expected(
        write(folder, "survey.csv", "\ufeff" + lines([["CASEID", "AGE", "V7_OPEN", "V8"], *body], ","), newline="\r\n"),
        "classify",
        {"text": "V7_OPEN", "label": "V8"},
        rows=120,
        labels=("Neither agree nor disagree", "Strongly agree", "Strongly disagree"),
    )


@real("SPSS series with #NULL!")
def spss_series(folder: Path) -> Expected:
    values = seasonal(120, base=50, swing=20, period=12)
    cells = [f"{value}" for value in values]
    cells[5] = "#NULL!"
    body = [[day.strftime("%d.%m.%Y"), cell] for day, cell in zip(months(120), cells, strict=True)]
    return Expected(
        write(folder, "index.csv", "\ufeff" + lines([["DATE_", "INDEX"], *body], ","), newline="\r\n"),
        "forecast",
        {"time": "DATE_", "target": "INDEX"},
        rows=120,
        frequency="1mo",
        means={"INDEX": mean(value for at, value in enumerate(values) if at != 5)},
        refused=True,
        key="data.gaps=previous",
        because="INDEX",
    )


@real("Stata export delimited")
def stata(folder: Path) -> Expected:
    """Semicolons asked for, %td dates, extended missing values."""
    values = seasonal(120, base=50, swing=20, period=7)
    cells = [f"{value}" for value in values]
    cells[5], cells[6] = ".a", "."
    body = [[day.strftime("%d%b%Y").lower(), cell] for day, cell in zip(days(120), cells, strict=True)]
    return Expected(
        write(folder, "panel.csv", lines([["date", "wage"], *body], ";")),
        "forecast",
        {"time": "date", "target": "wage"},
        rows=120,
        frequency="1d",
        means={"wage": mean(value for at, value in enumerate(values) if at not in (5, 6))},
        refused=True,
        key="data.gaps=previous",
        because="wage",
    )
