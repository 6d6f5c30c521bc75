"""The outcome of one contract (`Finding`), and the table of all outcomes for one module (`Checked`)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from torch import Tensor

from atento.bundle import Json
from atento.lines import lines_of

EXACT = 0.0
CLOSE = 1e-12  # float64: sums in another order
SHORT = 1e-4  # where the code under check goes through float32, as losses and searches do

Verdict = Literal["held", "broken", "does not apply"]


class Finding(NamedTuple):
    """The outcome of one contract on one module. The difference is relative where numbers are larger than 1."""

    contract: str
    verdict: Verdict
    difference: float
    tolerance: float
    words: str


class Checked:
    """All findings on one module: true when none is broken, printed as a table."""

    def __init__(self, name: str, findings: Sequence[Finding]) -> None:
        self.name, self.findings = name, tuple(findings)

    @property
    def broken(self) -> list[Finding]:
        """The contracts that are broken."""
        return [finding for finding in self.findings if finding.verdict == "broken"]

    def __bool__(self) -> bool:
        return not self.broken

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, contract: str) -> Finding:
        return next(finding for finding in self.findings if finding.contract == contract)

    def rows(self) -> list[list[str]]:
        """The table's cells, in the order of HEADINGS."""
        return [
            [one.contract, one.verdict.upper() if one.verdict == "broken" else one.verdict, *numbers(one), one.words]
            for one in self.findings
        ]

    def summary(self) -> str:
        """The outcome in one line."""
        counts = Counter(finding.verdict for finding in self.findings)
        names = ", ".join(finding.contract for finding in self.broken)
        held = f"{counts['held']} contract{'' if counts['held'] == 1 else 's'} held"
        broken = f"{counts['broken']} broken ({names})" if self.broken else "none broken"
        rest = f"{counts['does not apply']} do{'es' if counts['does not apply'] == 1 else ''} not apply"
        return f"{self.name}: {held}, {broken}, {rest}"

    def to_json(self) -> Json:
        """The same in dicts and lists."""
        return {"name": self.name, "held": bool(self), "contracts": [finding._asdict() for finding in self.findings]}

    def __str__(self) -> str:
        table = [HEADINGS, *self.rows()]
        widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS) - 1)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
            for row in table
        ]
        return "\n".join([*lines, "", self.summary()])

    __repr__ = __str__


HEADINGS = ["contract", "verdict", "difference", "tolerance", "what it says"]


def numbers(finding: Finding) -> list[str]:
    """Difference and tolerance as text; none where the contract does not apply."""
    if finding.verdict == "does not apply":
        return ["–", "–"]
    tolerance = "exact" if finding.tolerance == EXACT else f"{finding.tolerance:.0e}"
    return [f"{finding.difference:.1e}" if finding.difference else "0", tolerance]


def judged(contract: str, difference: float, tolerance: float, words: str, *, otherwise: str = "") -> Finding:
    """A contract that is held when the difference is within the tolerance; `otherwise` describes a broken one."""
    held = difference <= tolerance  # a NaN is not
    return Finding(contract, "held" if held else "broken", difference, tolerance, words if held else otherwise or words)


def not_applicable(contract: str, reason: str) -> Finding:
    """A contract that does not apply to this module, and the reason."""
    return Finding(contract, "does not apply", 0.0, 0.0, reason)


def tried(contract: str, run: Callable[[], Finding]) -> Finding:
    """The finding of a contract; a module that raises breaks it."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - whatever it raises is reported
        first = (lines_of(str(error).strip()) or [""])[0]
        return Finding(contract, "broken", float("inf"), EXACT, f"it raised {type(error).__name__}: {first[:160]}")


def difference(actual: Tensor, expected: Tensor) -> float:
    """The largest difference of two tensors, relative to the largest expected number above 1; infinite at NaN or for
    unequal shapes.
    """
    if actual.shape != expected.shape:
        return float("inf")
    if actual.numel() == 0:
        return 0.0
    actual, expected = actual.detach().double(), expected.detach().double()
    gaps = (actual - expected).abs().masked_fill(actual == expected, 0.0)
    scale = max(1.0, float(expected.abs().nan_to_num(nan=0.0, posinf=1.0, neginf=1.0).max()))
    return float(gaps.nan_to_num(nan=float("inf"), posinf=float("inf")).max()) / scale
