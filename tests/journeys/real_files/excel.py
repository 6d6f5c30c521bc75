"""Excel in eight locales, and other things that it writes as text."""

from pathlib import Path

from tests.journeys.real_files.contents import (
    Expected,
    days,
    grouped,
    lines,
    mean,
    months,
    real,
    reviews,
    seasonal,
    write,
)


@real("Excel en-US, dollars")
def excel_en_us(folder: Path) -> Expected:
    sales = seasonal(140, base=4200.5, swing=2600, period=7)
    units = [round(each / 3) for each in sales]
    sales[17] = -1234.5  # a refund, which Excel's accounting format writes in brackets
    body = [
        [
            f"{day.month}/{day.day}/{day.year}",
            f"${grouped(sale, 2, ',', '.')}" if sale >= 0 else f"(${grouped(-sale, 2, ',', '.')})",
            grouped(unit, 0, ",", "."),
        ]
        for day, sale, unit in zip(days(140), sales, units, strict=True)
    ]
    text = "\ufeff" + lines([["Date", "Sales", "Units"], *body], ",")  # CSV UTF-8: with a mark
    return Expected(
        write(folder, "Sales.csv", text, newline="\r\n"),
        "forecast",
        {"time": "Date", "target": "Sales,Units"},
        rows=140,
        frequency="1d",
        means={"Sales": mean(sales), "Units": mean(units)},
        says=("month", "thousands", "$", "brackets"),
    )


@real("Excel de-DE, euros")
def excel_de_de(folder: Path) -> Expected:
    sales = seasonal(120, base=15_000, swing=6000, period=12)
    pieces = [round(each / 12) for each in sales]  # 750 and 1.250 in one column
    body = [
        [day.strftime("%d.%m.%Y"), f"{grouped(sale, 2, '.', ',')} €", grouped(piece, 0, ".", ",")]
        for day, sale, piece in zip(months(120), sales, pieces, strict=True)
    ]
    text = lines([["Monat", "Umsatz", "Stückzahl"], *body], ";")
    return Expected(
        write(folder, "Umsätze.csv", text, "cp1252", "\r\n"),
        "forecast",
        {"time": "Monat", "target": "Umsatz,Stückzahl"},
        rows=120,
        frequency="1mo",
        means={"Umsatz": mean(sales), "Stückzahl": mean(pieces)},
        says=("cp1252", "thousands", "€"),
    )


@real("Excel de-DE, whole thousands alone")
def excel_de_whole(folder: Path) -> Expected:
    """All numbers of three digits after one point: both readings fit, and only the semicolon tells."""
    pieces = [round(each) for each in seasonal(120, base=15_000, swing=4000, period=12, seed=3)]
    body = [
        [day.strftime("%d.%m.%Y"), grouped(piece, 0, ".", ",")] for day, piece in zip(months(120), pieces, strict=True)
    ]
    return Expected(
        write(folder, "Stück.csv", lines([["Monat", "Stück"], *body], ";"), "cp1252", "\r\n"),
        "forecast",
        {"time": "Monat", "target": "Stück"},
        rows=120,
        means={"Stück": mean(pieces)},
        refused=True,
        key="data.decimal=comma",
        because="15",
    )


@real("Excel es-ES, blank tail and n/d")
def excel_es_es(folder: Path) -> Expected:
    north = seasonal(150, base=12_000, swing=7000, period=7)
    south = seasonal(150, base=900, swing=500, period=7, seed=1)
    body = [
        [day.strftime("%d/%m/%Y"), grouped(one, 2, ".", ","), grouped(other, 2, ".", ",")]
        for day, one, other in zip(days(150), north, south, strict=True)
    ]
    body[40][2] = "n/d"
    body[41][2] = "-"
    text = lines([["Fecha", "Tienda Norte", "Tienda Sur"], *body, *[["", "", ""]] * 3], ";")
    there = [each for at, each in enumerate(south) if at not in (40, 41)]
    return Expected(
        write(folder, "ventas.csv", text, "cp1252", "\r\n"),
        "forecast",
        {"time": "Fecha", "target": "Tienda Norte,Tienda Sur"},
        rows=150,
        frequency="1d",
        means={"Tienda Norte": mean(north), "Tienda Sur": mean(there)},
        refused=True,  # for its two gaps only, not for its blank tail
        key="data.gaps=previous",
        because="Tienda Sur",
        left_out=3,
    )


@real("Excel fr-FR, narrow no-break spaces")
def excel_fr_fr(folder: Path) -> Expected:
    sales = seasonal(120, base=8000, swing=7800, period=12)
    share = seasonal(120, base=12.5, swing=4, period=12, digits=1, seed=2)
    body = [
        [day.strftime("%d/%m/%Y"), f"{grouped(sale, 2, chr(0x202F), ',')}\xa0€", f"{grouped(part, 1, '', ',')}\xa0%"]
        for day, sale, part in zip(months(120), sales, share, strict=True)
    ]
    text = "\ufeff" + lines([["Mois", "Chiffre d'affaires", "Taux d’occupation"], *body], ";")
    return Expected(
        write(folder, "ventes.csv", text, newline="\r\n"),
        "forecast",
        {"time": "Mois", "target": "Chiffre d'affaires,Taux d’occupation"},
        rows=120,
        frequency="1mo",
        means={"Chiffre d'affaires": mean(sales), "Taux d’occupation": mean(share)},
        says=("thousands", "€", "%"),
    )


@real("Excel it-IT, the sign first")
def excel_it_it(folder: Path) -> Expected:
    sales = seasonal(120, base=6000, swing=5800, period=12)
    body = [
        [day.strftime("%d/%m/%Y"), f"€ {grouped(sale, 2, '.', ',')}"]
        for day, sale in zip(months(120), sales, strict=True)
    ]
    return Expected(
        write(folder, "vendite.csv", lines([["Data", "Incasso"], *body], ";"), "cp1252", "\r\n"),
        "forecast",
        {"time": "Data", "target": "Incasso"},
        rows=120,
        frequency="1mo",
        means={"Incasso": mean(sales)},
        says=("thousands", "€"),
    )


@real("Excel pt-BR, R$ and negatives")
def excel_pt_br(folder: Path) -> Expected:
    balance = seasonal(120, base=1500, swing=4000, period=12)
    body = [
        [day.strftime("%d/%m/%Y"), ("-" if each < 0 else "") + f"R$ {grouped(abs(each), 2, '.', ',')}"]
        for day, each in zip(months(120), balance, strict=True)
    ]
    return Expected(
        write(folder, "saldo.csv", lines([["Mês", "Saldo"], *body], ";"), "cp1252", "\r\n"),
        "forecast",
        {"time": "Mês", "target": "Saldo"},
        rows=120,
        frequency="1mo",
        means={"Saldo": mean(balance)},
        says=("thousands", "R$"),
    )


@real("Excel de-CH, apostrophes")
def excel_de_ch(folder: Path) -> Expected:
    sales = seasonal(120, base=6000, swing=5800, period=12)
    body = [
        [day.strftime("%d.%m.%Y"), f"CHF {grouped(sale, 2, '’', '.')}"]
        for day, sale in zip(months(120), sales, strict=True)
    ]
    return Expected(
        write(folder, "Umsatz.csv", lines([["Monat", "Umsatz"], *body], ";"), "cp1252", "\r\n"),
        "forecast",
        {"time": "Monat", "target": "Umsatz"},
        rows=120,
        frequency="1mo",
        means={"Umsatz": mean(sales)},
        says=("thousands", "CHF"),
    )


@real("Excel ja-JP, cp932 and yen")
def excel_ja_jp(folder: Path) -> Expected:
    """The yen sign is the byte of a backslash, and the circled digits are of cp932, not of Shift JIS."""
    sales = [round(each) for each in seasonal(120, base=250_000, swing=90_000, period=12)]
    body = [
        [f"{day.year}/{day.month}/{day.day}", f"\\{grouped(sale, 0, ',', '.')}"]
        for day, sale in zip(months(120), sales, strict=True)
    ]
    text = lines([["日付", "①売上（税込）"], *body], ",")
    return Expected(
        write(folder, "売上.csv", text, "cp932", "\r\n"),
        "forecast",
        {"time": "日付", "target": "①売上（税込）"},
        rows=120,
        frequency="1mo",
        means={"①売上（税込）": mean(sales)},
        says=("cp932", "thousands"),
    )


@real("Excel pl-PL, cp1250 reviews")
def excel_pl_pl(folder: Path) -> Expected:
    body = [
        [str(at), text, grouped(1000.5 + 37 * at, 2, "\xa0", ",") + " zł", label]
        for at, (text, label) in enumerate(reviews(120, "pl", ("zła", "średnia", "dobra")), start=1)
    ]
    text = lines([["Lp.", "Opinia gościa", "Kwota", "Ocena"], *body], ";")
    return Expected(
        write(folder, "opinie.csv", text, "cp1250", "\r\n"),
        "classify",
        {"text": "Opinia gościa", "label": "Ocena"},
        rows=120,
        labels=("dobra", "zła", "średnia"),
        says=("cp1250",),
    )


@real("Excel Unicode text")
def excel_unicode_text(folder: Path) -> Expected:
    """UTF-16 with tabs; cells with quotes or commas are quoted, as in CSV."""
    rows = reviews(120, "de", ("schlecht", "gut"))
    rows[0][0] = 'Er sagte "nie wieder", zweimal'
    text = "\ufeff" + lines([["Bewertung", "Urteil"], *rows], "\t")
    return Expected(
        write(folder, "Bewertungen.txt", text, "utf-16-le", "\r\n"),
        "classify",
        {"text": "Bewertung", "label": "Urteil"},
        rows=120,
        labels=("gut", "schlecht"),
        example=("Bewertung", 'Er sagte "nie wieder", zweimal'),
    )


@real("Excel sep= line")
def excel_sep_line(folder: Path) -> Expected:
    rows = reviews(120, "es", ("Negativo", "Positivo"))
    return Expected(
        write(folder, "reseñas.csv", "sep=;\n" + lines([["Reseña", "Opinión"], *rows], ";"), "cp1252", "\r\n"),
        "classify",
        {"text": "Reseña", "label": "Opinión"},
        rows=120,
        labels=("Negativo", "Positivo"),
        example=("Reseña", rows[0][0]),
    )


@real("Excel errors in cells")
def excel_errors(folder: Path) -> Expected:
    ratio = seasonal(120, base=1.5, swing=0.6, period=12)
    cells = [str(each) for each in ratio]
    cells[9], cells[30], cells[31] = "#DIV/0!", "#N/A", "#VALUE!"
    body = [[f"{day:%Y-%m-%d}", cell] for day, cell in zip(months(120), cells, strict=True)]
    return Expected(
        write(folder, "ratio.csv", lines([["Month", "Ratio"], *body], ","), newline="\r\n"),
        "forecast",
        {"time": "Month", "target": "Ratio"},
        rows=120,
        frequency="1mo",
        means={"Ratio": mean(each for at, each in enumerate(ratio) if at not in (9, 30, 31))},
        refused=True,
        key="data.gaps=previous",
        because="#DIV/0!",
    )


@real("Excel es-ES, texts with semicolons and a price")
def semicolons_in_texts(folder: Path) -> Expected:
    """Each row has one comma, that of its price, and a semicolon with a space behind it inside a text."""
    rows = [
        [str(at), f"{text}; {text}", label, f"{10 + at % 80},{at % 100:02}"]
        for at, (text, label) in enumerate(reviews(120, "es", ("Buena", "Mala")), start=1)
    ]
    return Expected(
        write(
            folder, "opiniones.csv", lines([["Nº", "Opinión", "Valoración", "Precio"], *rows], ";"), "cp1252", "\r\n"
        ),
        "classify",
        {"text": "Opinión", "label": "Valoración"},
        rows=120,
        labels=("Buena", "Mala"),
    )
