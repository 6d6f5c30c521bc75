"""The lines of a text."""


def lines_of(text: str) -> list[str]:
    r"""The lines of a text, which end at \n, \r\n or \r; a last one that is empty is no line.

    `str.splitlines` also cuts at \x0b, \x0c, \x1c to \x1e, U+0085, U+2028 and U+2029, which texts hold.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines
