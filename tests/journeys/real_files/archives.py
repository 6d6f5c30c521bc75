"""Competitions and archives."""

import random
from datetime import date, datetime, timedelta
from pathlib import Path

from tests.journeys.real_files.contents import Expected, all_quoted, lines, mean, real, reviews, seasonal, write


@real("Kaggle train.csv beside test.csv without labels")
def kaggle(folder: Path) -> Expected:
    rows = reviews(160, labels=("0", "1"))
    body = [[str(at), "", text, label] for at, (text, label) in enumerate(rows)]
    source = write(folder, "train.csv", lines([["id", "keyword", "text", "target"], *body[:120]], ","))
    write(folder, "test.csv", lines([["id", "keyword", "text"], *[row[:3] for row in body[120:]]], ","))
    write(folder, "sample_submission.csv", lines([["id", "target"], *[[row[0], "0"] for row in body[120:]]], ","))
    return Expected(
        source, "classify", {"text": "text", "label": "target"}, rows=120, labels=("0", "1"), says=("test.csv",)
    )


@real("Kaggle folder")
def kaggle_folder(folder: Path) -> Expected:
    kaggle(folder / "nlp-getting-started")
    return Expected(
        str(folder / "nlp-getting-started"),
        "classify",
        {"text": "text", "label": "target"},
        rows=120,
        labels=("0", "1"),
        says=("train.csv", "test.csv"),
    )


@real("UCI adult")
def uci_adult(folder: Path) -> Expected:
    """A blank after each comma, no header, `?` for what is missing: a table of facts, which no task here reads."""
    draw = random.Random(7)
    work, school = ("Private", "State-gov", "?"), ("Bachelors", "HS-grad", "11th", "Masters")
    body = "".join(
        f"{draw.randint(17, 80)}, {draw.choice(work)}, {draw.randint(20_000, 400_000)}, {draw.choice(school)}, "
        f"{draw.randint(1, 16)}, {draw.randint(20, 60)}, {draw.choice(('<=50K', '>50K'))}\n"
        for _ in range(200)
    )
    return Expected(write(folder, "adult.data", body + "\n"), refused=True, because="no column holds text")


@real("UCI auto-mpg, aligned by blanks")
def uci_aligned(folder: Path) -> Expected:
    draw = random.Random(8)
    body = "".join(
        f"{draw.uniform(9, 40):<7.1f}{draw.choice((4, 6, 8)):<4}{draw.uniform(70, 450):<11.1f}"
        f"{'?' if draw.random() < 0.03 else f'{draw.uniform(50, 220):.1f}':<11}{draw.uniform(1600, 5000):<11.0f}"
        f'{draw.uniform(8, 24):<7.1f}{draw.randint(70, 82):<4}{draw.randint(1, 3)}\t"{draw.choice(("ford pinto", "amc hornet", "fiat 128"))}"\n'  # noqa: E501
        for _ in range(200)
    )
    return Expected(write(folder, "auto-mpg.data", body), refused=True, because="spaces")


@real("UCI SMS spam")
def uci_sms(folder: Path) -> Expected:
    rows = reviews(200, labels=("ham", "ham", "ham", "spam"))
    rows[3][0] += ' "quoted at its end'
    return Expected(
        write(folder, "SMSSpamCollection", "".join(f"{label}\t{text}\n" for text, label in rows)),
        "classify",
        {"text": "2", "label": "1"},
        rows=200,
        labels=("ham", "spam"),
        example=("2", rows[0][0]),
    )


@real("UCI air quality")
def uci_air(folder: Path) -> Expected:
    """Semicolons, decimal commas, hours as 18.00.00, two columns without a name, blank rows at the end."""
    first = datetime(2004, 3, 10, 18)
    carbon = seasonal(200, base=2.6, swing=1.2, period=24, digits=1)
    ozone = [round(each) for each in seasonal(200, base=1300, swing=200, period=24, seed=1)]
    body = [
        [
            (first + timedelta(hours=at)).strftime("%d/%m/%Y"),
            (first + timedelta(hours=at)).strftime("%H.%M.%S"),
            f"{a}".replace(".", ","),
            str(b),
            "",
            "",
        ]
        for at, (a, b) in enumerate(zip(carbon, ozone, strict=True))
    ]
    text = lines([["Date", "Time", "CO(GT)", "PT08.S5(O3)", "", ""], *body, *[[""] * 6] * 4], ";")
    return Expected(
        write(folder, "AirQualityUCI.csv", text, newline="\r\n"),
        "forecast",
        {"time": "Date,Time", "target": "CO(GT),PT08.S5(O3)"},
        rows=200,
        frequency="1h",
        means={"CO(GT)": mean(carbon), "PT08.S5(O3)": mean(ozone)},
        left_out=4,
    )


@real("M4, a row per series")
def m4(folder: Path) -> Expected:
    """All cells quoted, the header V1, V2 ..., shorter series padded with empty cells."""
    every = [
        seasonal(count, base=1000 + 400 * at, swing=300, period=12, seed=at)
        for at, count in enumerate((150, 130, 120, 90, 150))
    ]
    width = max(map(len, every))
    body = [[f"M{at}", *map(str, series), *[""] * (width - len(series))] for at, series in enumerate(every, start=1)]
    header = [f"V{at}" for at in range(1, width + 2)]
    text = all_quoted([header]) + "".join(",".join(f'"{cell}"' if cell else "" for cell in row) + "\n" for row in body)
    return Expected(
        write(folder, "Monthly-train.csv", text),
        "forecast",
        {"series": "V1"},
        rows=sum(map(len, every)),
        series=5,
        means={"": mean(value for series in every for value in series)},
    )


@real("Monash .tsf")
def monash(folder: Path) -> Expected:
    every = [
        seasonal(count, base=100 + 40 * at, swing=30, period=12, seed=at, digits=1)
        for at, count in enumerate((150, 130, 120))
    ]
    head = "# Dataset Information\n# Three series for a test.\n@relation tourism_monthly\n@attribute series_name string\n@attribute start_timestamp date\n"  # noqa: E501
    head += "@frequency monthly\n@horizon 12\n@missing false\n@equallength false\n@data\n"
    body = "".join(
        f"T{at}:1979-0{at}-01 00-00-00:{','.join(map(str, series))}\n" for at, series in enumerate(every, start=1)
    )
    return Expected(
        write(folder, "tourism_monthly_dataset.tsf", head + body, "cp1252"),
        "forecast",
        {"series": "series_name", "time": "start_timestamp"},
        rows=sum(map(len, every)),
        series=3,
        frequency="1mo",
        means={"": mean(value for series in every for value in series)},
    )


@real("sktime .ts")
def sktime(folder: Path) -> Expected:
    head = "#A test\n@problemName Motions\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 2\n@equalLength true\n@seriesLength 30\n"  # noqa: E501
    head += "@classLabel true walk run\n@data\n"
    body = ""
    for at in range(60):
        fast = at % 2
        one, other = (
            seasonal(30, base=0, swing=1, period=5 + 10 * fast, digits=4, seed=2 * at + side) for side in (0, 1)
        )
        body += f"{','.join(map(str, one))}:{','.join(map(str, other))}:{'run' if fast else 'walk'}\n"
    return Expected(write(folder, "Motions_TRAIN.ts", head + body), "classify-series", rows=60, labels=("run", "walk"))


@real("UCR archive TSV")
def ucr(folder: Path) -> Expected:
    """The label first, then the numbers; no header; NaN pads what is shorter."""
    rows = []
    for at in range(60):
        values = seasonal(40, base=0, swing=1, period=5 + 10 * (at % 2), digits=6, seed=at)
        rows.append([str(1 + at % 2), *map(str, values[: 40 - at % 3]), *["NaN"] * (at % 3)])
    return Expected(
        write(folder, "Gestures_TRAIN.tsv", "".join("\t".join(row) + "\n" for row in rows)),
        "classify-series",
        rows=60,
        labels=("1", "2"),
    )


@real("World Bank, a row per country")
def world_bank(folder: Path) -> Expected:
    """Four lines before the header, a column per year, a comma at the end of each line."""
    every = [seasonal(60, base=1e9 * (at + 1), swing=2e8, period=10, seed=at) for at in range(4)]
    header = ["Country Name", "Country Code", "Indicator Name", "Indicator Code", *map(str, range(1960, 2020)), ""]
    places = (("Aruba", "ABW"), ("Chile", "CHL"), ("Norway", "NOR"), ("Kenya", "KEN"))
    body = [
        [*place, "GDP (current US$)", "NY.GDP.MKTP.CD", *map(str, series), ""]
        for place, series in zip(places, every, strict=True)
    ]
    preamble = '"Data Source","World Development Indicators",\n\n"Last Updated Date","2024-01-31",\n\n'
    return Expected(
        write(
            folder,
            "API_NY.GDP.MKTP.CD_DS2_en_csv_v2.csv",
            "\ufeff" + preamble + all_quoted([header, *body]),
            newline="\r\n",
        ),
        "forecast",
        {"series": "Country Name"},
        rows=240,
        series=4,
        frequency="1y",
        means={"": mean(value for series in every for value in series)},
    )


@real("FRED")
def fred(folder: Path) -> Expected:
    values = seasonal(120, base=22_000.5, swing=3000, period=12, digits=3)
    body = [
        [str(day), str(value)]
        for day, value in zip((date(1960 + at // 4, at % 4 * 3 + 1, 1) for at in range(120)), values, strict=True)
    ]
    return Expected(
        write(folder, "GDP.csv", lines([["observation_date", "GDP"], *body], ",")),
        "forecast",
        {"time": "observation_date", "target": "GDP"},
        rows=120,
        frequency="3mo",
        means={"GDP": mean(values)},
    )


@real("Our World in Data")
def owid(folder: Path) -> Expected:
    body, every = [], []
    for at, (place, code) in enumerate((("Chile", "CHL"), ("Kenya", "KEN"), ("World", ""))):
        values = seasonal(60, base=40 + 10 * at, swing=5, period=11, seed=at)
        every += values
        body += [[place, code, str(1960 + year), str(value)] for year, value in enumerate(values)]
    return Expected(
        write(folder, "life-expectancy.csv", lines([["Entity", "Code", "Year", "Life expectancy"], *body], ",")),
        "forecast",
        {"time": "Year", "series": "Entity", "target": "Life expectancy"},
        rows=180,
        series=3,
        frequency="1y",
        means={"Life expectancy": mean(every)},
    )


@real("LIBSVM")
def libsvm(folder: Path) -> Expected:
    draw = random.Random(9)
    body = "".join(
        f"{draw.choice(('+1', '-1'))} {' '.join(f'{at}:{draw.random():.4f}' for at in sorted(draw.sample(range(1, 60), 8)))} \n"  # noqa: E501
        for _ in range(200)
    )
    return Expected(write(folder, "a1a.libsvm", body), refused=True, because="LIBSVM")
