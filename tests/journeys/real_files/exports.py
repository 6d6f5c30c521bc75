"""Forms, databases, banks and monitors."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.journeys.real_files.contents import (
    Expected,
    all_quoted,
    days,
    grouped,
    lines,
    mean,
    real,
    reviews,
    seasonal,
    sentence,
    write,
)


@real("Google Forms, several choices")
def google_forms(folder: Path) -> Expected:
    draw = random.Random(5)
    choices = ("Food", "Room", "Staff", "Price")
    header = [
        "Timestamp",
        "What could we do better? Please tell us in a few words (your answer is anonymous)",
        "Which of these does your answer concern? [choose all that apply]",
    ]
    body = []
    for at in range(150):
        when = datetime(2024, 1, 31, 9, 15) + timedelta(minutes=37 * at)
        stamp = f"{when.year}/{when.month:02}/{when.day:02} {when.hour % 12 or 12}:{when:%M:%S} {'am' if when.hour < 12 else 'pm'} GMT+1"  # noqa: E501
        body.append([stamp, sentence(draw), ", ".join(each for each in choices if draw.random() < 0.45) or "Food"])
    return Expected(
        write(folder, "Guest survey (Responses) - Form Responses 1.csv", all_quoted([header, *body])),
        "label",
        {"text": header[1], "labels": header[2]},
        rows=150,
        labels=tuple(sorted(choices)),
    )


@real("Google Forms, one choice")
def google_forms_one(folder: Path) -> Expected:
    header = ["Timestamp", "In your own words, how was your stay?", "Overall, how satisfied were you with your stay?"]
    rows = reviews(150, labels=("Very satisfied", "Neither satisfied nor dissatisfied", "Not at all satisfied"))
    body = [
        [f"1/{1 + at % 28}/2024 {8 + at % 12}:05:{at % 60:02}", text, label] for at, (text, label) in enumerate(rows)
    ]
    return Expected(
        write(folder, "Form Responses 1.csv", lines([header, *body], ","), newline="\r\n"),
        "classify",
        {"text": header[1], "label": header[2]},
        rows=150,
        labels=("Neither satisfied nor dissatisfied", "Not at all satisfied", "Very satisfied"),
    )


@real("MySQL INTO OUTFILE")
def mysql_outfile(folder: Path) -> Expected:
    r"""No header, `\"` for a quote in a text, \N for NULL."""
    rows = reviews(120)
    rows[0][0] = 'they said "never again", twice'
    body = "".join(
        f'{at},"{text.replace(chr(34), chr(92) + chr(34))}",{chr(92) + "N" if at % 7 == 0 else at * 3},"{label}"\n'
        for at, (text, label) in enumerate(rows, start=1)
    )
    return Expected(
        write(folder, "dump.csv", body),
        "classify",
        {"text": "2", "label": "4"},
        rows=120,
        labels=("neg", "pos"),
        example=("2", rows[0][0]),
    )


@real("psql table")
def psql_table(folder: Path) -> Expected:
    """What `psql -c 'select ...' > file` writes: aligned, ruled, and with a footer."""
    rows = reviews(120)
    width = max(len(text) for text, _ in rows)
    body = "".join(f" {at:>3} | {text:<{width}} | {label}\n" for at, (text, label) in enumerate(rows, start=1))
    head = f" id  | {'review':^{width}} | label \n-----+-{'-' * width}-+-------\n"
    return Expected(
        write(folder, "reviews.txt", f"{head}{body}(120 rows)\n\n"),
        "classify",
        {"text": "review", "label": "label"},
        rows=120,
        labels=("neg", "pos"),
        example=("review", rows[0][0]),
    )


@real("MySQL batch")
def mysql_batch(folder: Path) -> Expected:
    r"""Tabs, NULL as a word, line breaks written as \n."""
    values = seasonal(120, base=50, swing=20, period=7)
    cells = [str(value) for value in values]
    cells[50] = "NULL"
    body = [
        [str(at), f"{day} 00:00:00", cell] for at, (day, cell) in enumerate(zip(days(120), cells, strict=True), start=1)
    ]
    return Expected(
        write(folder, "load.tsv", "".join("\t".join(row) + "\n" for row in [["id", "created_at", "amount"], *body])),
        "forecast",
        {"time": "created_at", "target": "amount"},
        rows=120,
        frequency="1d",
        means={"amount": mean(value for at, value in enumerate(values) if at != 50)},
        refused=True,
        key="data.gaps=previous",
        because="amount",
    )


@real("Postgres COPY text")
def postgres_copy(folder: Path) -> Expected:
    r"""Tabs, no header, \N for NULL, labels sorted as the query ordered them."""
    rows = sorted(reviews(160), key=lambda row: row[1])
    body = "".join(
        f"{at}\t{text}\t{chr(92) + 'N' if at % 9 == 0 else 'web'}\t{label}\n"
        for at, (text, label) in enumerate(rows, start=1)
    )
    return Expected(
        write(folder, "copy.txt", body),
        "classify",
        {"text": "2", "label": "4"},
        rows=160,
        labels=("neg", "pos"),
        example=("2", rows[0][0]),
    )


@real("bank statement with a preamble")
def bank_statement(folder: Path) -> Expected:
    """Lines about the account before the header, debits in brackets, a total at the end."""
    balance = seasonal(140, base=5200, swing=1500, period=7)
    amount = [round(later - earlier, 2) for earlier, later in zip([balance[0], *balance], balance, strict=False)]
    body = [
        [
            day.strftime("%d/%m/%Y"),
            grouped(each, 2, ",", ".") if each >= 0 else f"({grouped(-each, 2, ',', '.')})",
            grouped(total, 2, ",", "."),
        ]
        for day, each, total in zip(days(140), amount, balance, strict=True)
    ]
    preamble = "Account:,GB29 NWBK 6016 1331 9268 19\nCustomer:,Ms A Lovelace\nPeriod:,08/03/2021 - 25/07/2021\n\n"
    text = preamble + lines(
        [["Date", "Amount", "Balance"], *body, ["Total", "", grouped(balance[-1], 2, ",", ".")]], ","
    )
    return Expected(
        write(folder, "statement.csv", text, newline="\r\n"),
        "forecast",
        {"time": "Date", "target": "Amount,Balance"},
        rows=140,
        frequency="1d",
        means={"Amount": mean(amount), "Balance": mean(balance)},
        says=("brackets", "line 5"),
        left_out=1,
    )


@real("Home Assistant history")
def home_assistant(folder: Path) -> Expected:
    """A sensor at uneven times, sometimes unavailable."""
    draw = random.Random(6)
    when, body = datetime(2024, 1, 31, tzinfo=UTC), []
    for value in seasonal(150, base=21, swing=3, period=48, digits=1):
        when += timedelta(seconds=draw.randint(280, 330), milliseconds=draw.randrange(1000))
        stamp = when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03}Z"
        body.append(["sensor.living_room_temperature", "unavailable" if draw.random() < 0.02 else str(value), stamp])
    return Expected(
        write(folder, "history.csv", lines([["entity_id", "state", "last_changed"], *body], ",")),
        "forecast",
        {"time": "last_changed", "target": "state"},
        rows=int(when.timestamp() // 300 - datetime.fromisoformat(body[0][2]).timestamp() // 300) + 1,
        refused=True,
        key="data.frequency=5min",
        because="last_changed",
    )


@real("Grafana, Prometheus series joined by time")
def grafana(folder: Path) -> Expected:
    """Epoch milliseconds, and labels of Prometheus as names of columns."""
    one, other = (
        seasonal(160, base=0.4, swing=0.2, period=60, digits=4),
        seasonal(160, base=0.7, swing=0.1, period=60, digits=4, seed=1),
    )
    names = [f'node_load1{{instance="{host}:9100", job="node"}}' for host in ("db", "web")]
    body = [
        [str(1_706_700_000_000 + 60_000 * at), str(a), str(b)] for at, (a, b) in enumerate(zip(one, other, strict=True))
    ]
    return Expected(
        write(folder, "Load-data-as-joinbyfield.csv", all_quoted([["Time", *names], *body])),
        "forecast",
        {"time": "Time", "target": ",".join(names)},
        rows=160,
        frequency="1min",
        means={names[0]: mean(one), names[1]: mean(other)},
    )


@real("yfinance, three header lines")
def yfinance(folder: Path) -> Expected:
    """pandas writes columns of two levels as two lines, and the index's name on a third."""
    close, volume = (
        seasonal(150, base=180, swing=20, period=60, digits=6),
        [round(each) for each in seasonal(150, base=5e7, swing=1e7, period=5)],
    )
    working = [day for day in days(230) if day.weekday() < 5][:150]
    body = [[str(day), str(one), str(other)] for day, one, other in zip(working, close, volume, strict=True)]
    text = lines([["Price", "Close", "Volume"], ["Ticker", "AAPL", "AAPL"], ["Date", "", ""], *body], ",")
    return Expected(
        write(folder, "aapl.csv", text),
        "forecast",
        {"time": "Price", "target": "Close,Volume"},
        rows=150,
        frequency="1wd",
        means={"Close": mean(close), "Volume": mean(volume)},
        says=("line 2", "line 3"),
    )
