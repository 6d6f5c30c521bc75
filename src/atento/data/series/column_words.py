"""Words in the names of columns of series, in several languages: times, parts of a calendar, names of series."""

import re


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# Words in the names of columns, in several languages.
TIME_WORDS = words("""
    date dates time times datetime timestamp timestamps ds day days month months year years week quarter hour when
    yearweek yearmonth season saison temporada stagione
    period     fecha fechas hora día dia mes año ano semana trimestre periodo momento
    datum zeit tag monat jahr woche quartal stunde uhrzeit zeitpunkt zeitstempel
    jour mois année annee semaine heure horodatage période data ora giorno mese anno settimana tempo
    dag maand jaar tijd czas dzień miesiąc rok data дата время день месяц год tarih zaman gün ay yıl
    日期 时间 年 月 年月 日付 日時 時刻 時間 날짜 시간 연도 تاريخ وقت
""")
COUNT_WORDS = words("""
    t time times step steps tick ticks index idx ds timestamp timestamps epoch ts utc frame sample cycle tempo zeit
""")
YEAR_WORDS = words("year years año ano jahr année annee anno jaar rok год yıl 年 연도 ds date yr")
WEEK_WORDS = words("week weeks wk yearweek yw semana woche kw semaine settimana")
# Facts of the calendar, by the names of their columns without punctuation.
CALENDAR_FACTS = words("""
    weekday dayofweek dow wday dayofyear doy dayofmonth weekofyear isweekend isholiday holiday weekend
    workingday isworkingday workday isworkday weekofmonth season yr mnth hr
    year month day week quarter hour minute wochentag wochentagnr monat stunde jahr feiertag
    diasemana díasemana diadelasemana mes hora año festivo joursemaine mois heure jourferie
""")
ROW_WORDS = words("index idx no nr nº id row unnamed number num rownum zeile fila")
SERIES_WORDS = words("""
    unique uniqueid series serie run runs case sample instance recording sequence id ids store stores shop item items
    sku product products location region country state city sensor station device meter site customer client household
    building code symbol ticker name group category entity
    key zone node line route batch subject patient user trial episode trajectory track object dept department family
    tienda producto artículo estación sensor región país ciudad cliente filiale geschäft artikel standort land stadt
    kunde magasin produit ville pays capteur negozio prodotto città loja produto sklep produkt магазин товар 店舗 商品
""")
ID_WORDS = words("unique uniqueid series serie")
VARIABLE_WORDS = words("""
    variable variables channel channels feature parameter parameters measure measurement metric indicator attribute
    quantity signal canal parámetro indicador medida merkmal kanal messgröße grandeur indicateur variabile parametro
""")
# Parts of a timestamp in columns of their own, the largest first.
CALENDAR_PARTS = (
    words("year yr año jahr année annee anno jaar 年"),
    words("month mon mo mes monat mois mese maand 月"),
    words("day dom día dia tag jour giorno dag 日"),
    words("hour hr hora stunde heure ora uur 時"),
    words("minute min minuto"),
)
DATE_WORDS = words("date dates day fecha datum data jour fech дата tarih 日期 日付 날짜 تاريخ")


def words_of(name: str) -> list[str]:
    """The words of a column's name in lower case, as in `Order Date`, `storeId` and `unique_id`."""
    separated = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name)
    return [part for part in re.split(r"[\W\d_]+", separated.lower()) if part]


def has_word(name: str, known: frozenset[str]) -> bool:
    """Whether a column's name contains a known word."""
    return any(part in known for part in words_of(name))
