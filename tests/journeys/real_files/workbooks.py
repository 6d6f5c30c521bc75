"""Excel's own format."""

import zipfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tests.journeys.real_files.contents import Expected, days, mean, real, reviews, seasonal

SHEET = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(path: Path, header: Sequence[str], rows: Sequence[Sequence[str | float | date | None]]) -> str:
    """A workbook of one sheet as Excel saves it: shared strings, dates as numbers of a style, empty cells left out."""
    strings: dict[str, int] = {}

    def cell(at: int, row: int, value: str | float | date | None) -> str:
        place = f"{chr(65 + at)}{row}"
        if value is None:
            return ""
        if isinstance(value, str):
            return f'<c r="{place}" t="s"><v>{strings.setdefault(value, len(strings))}</v></c>'
        if isinstance(value, date):
            return f'<c r="{place}" s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
        return f'<c r="{place}"><v>{value!r}</v></c>'

    data = "".join(
        f'<row r="{at}">{"".join(cell(column, at, value) for column, value in enumerate(row))}</row>'
        for at, row in enumerate([header, *rows], start=1)
    )
    shared = "".join(
        f'<si><t xml:space="preserve">{text.replace("&", "&amp;").replace("<", "&lt;")}</t></si>' for text in strings
    )
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'  # noqa: E501
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kinds}.styles+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kinds}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/>'
        f'<Relationship Id="rId3" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills>'  # noqa: E501
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
        '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}" count="{len(strings)}" uniqueCount="{len(strings)}">{shared}</sst>',  # noqa: E501
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), SHEET + text, zipfile.ZIP_DEFLATED)
    return str(path)


@real("Excel workbook of reviews")
def excel_workbook_reviews(folder: Path) -> Expected:
    rows = reviews(120)
    return Expected(
        workbook(
            folder / "Reviews.xlsx",
            ["Review", "Stars", "Verdict"],
            [[text, 1 + 4 * (label == "pos"), label] for text, label in rows],
        ),
        "classify",
        {"text": "Review", "label": "Verdict"},
        rows=120,
        labels=("neg", "pos"),
        example=("Review", rows[0][0]),
    )


@real("Excel workbook of a series")
def excel_workbook_series(folder: Path) -> Expected:
    """Dates are numbers (44263) whose style says that they are dates."""
    sales = seasonal(140, base=4200.5, swing=2600, period=7)
    return Expected(
        workbook(folder / "Sales.xlsx", ["Date", "Sales"], list(zip(days(140), sales, strict=True))),
        "forecast",
        {"time": "Date", "target": "Sales"},
        rows=140,
        frequency="1d",
        means={"Sales": mean(sales)},
    )
