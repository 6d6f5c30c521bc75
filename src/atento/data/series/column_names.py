"""Names that columns of times, of series' names and of variables go by, in several languages."""

import re

TIME_NAMES = """
    date dates time times datetime timestamp timestamps ds day days month months year years week quarter hour when
    period     fecha fechas hora día dia mes año ano semana trimestre periodo momento
    datum zeit tag monat jahr woche quartal stunde uhrzeit zeitpunkt zeitstempel
    jour mois année annee semaine heure horodatage période data ora giorno mese anno settimana tempo
    dag maand jaar tijd czas dzień miesiąc rok data дата время день месяц год tarih zaman gün ay yıl
    日期 时间 年 月 年月 日付 日時 時刻 時間 날짜 시간 연도 تاريخ وقت
"""
COUNT_NAMES = (
    "t time times step steps tick ticks index idx ds timestamp timestamps epoch ts utc frame sample cycle tempo zeit"
)
YEAR_NAMES = "year years año ano jahr année annee anno jaar rok год yıl 年 연도 ds date yr"
ROW_NAMES = "index idx no nr nº id row unnamed number num rownum zeile fila"
SERIES_NAMES = """
    unique uniqueid series serie run runs case sample instance recording sequence id ids store stores shop item items
    sku product products location region country state city sensor station device meter site customer client household
    building code symbol ticker name group category entity
    key zone node line route batch subject patient user trial episode trajectory track object dept department family
    tienda producto artículo estación sensor región país ciudad cliente filiale geschäft artikel standort land stadt
    kunde magasin produit ville pays capteur negozio prodotto città loja produto sklep produkt магазин товар 店舗 商品
"""
SURE_NAMES = "unique uniqueid series serie"
VARIABLE_NAMES = """
    variable variables channel channels feature parameter parameters measure measurement metric indicator attribute
    quantity signal canal parámetro indicador medida merkmal kanal messgröße grandeur indicateur variabile parametro
"""

TIME = frozenset(TIME_NAMES.split())
COUNT = frozenset(COUNT_NAMES.split())
YEAR = frozenset(YEAR_NAMES.split())
ROW = frozenset(ROW_NAMES.split())
SERIES = frozenset(SERIES_NAMES.split())
SURE = frozenset(SURE_NAMES.split())
VARIABLE = frozenset(VARIABLE_NAMES.split())

# Parts of one time in columns of their own, the largest first; each by the names it goes by.
CALENDAR = tuple(
    frozenset(names.split())
    for names in (
        "year yr año jahr année annee anno jaar 年",
        "month mon mo mes monat mois mese maand 月",
        "day dom día dia tag jour giorno dag 日",
        "hour hr hora stunde heure ora uur 時",
        "minute min minuto",
    )
)


def words_of(name: str) -> list[str]:
    """The words of a column's name in small letters, as in `Order Date`, `storeId` and `unique_id`."""
    parted = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name)
    return [part for part in re.split(r"[\W\d_]+", parted.lower()) if part]


def goes_by(name: str, known: frozenset[str]) -> bool:
    """Whether a column's name holds a known word."""
    return any(part in known for part in words_of(name))
