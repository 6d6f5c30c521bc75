"""Months by name, in several languages, whole or by their first letters."""

NAMES = (
    "january february march april may june july august september october november december",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)


def by_name() -> dict[str, int]:
    """The number of every name and of its first three or four letters; first letters of two months are left out."""
    known: dict[str, int] = {}
    unclear = set()
    for language in NAMES:
        for number, name in enumerate(language.split(), start=1):
            for length in (3, 4, len(name)):
                if known.setdefault(name[:length], number) != number:
                    unclear.add(name[:length])
    return {name: number for name, number in known.items() if name not in unclear} | {"sept": 9, "jui": 0}


MONTHS = by_name()
