"""What a server counts, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter

from atento.serving.served import ModelCard

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Histogram:
    """How many values were at most so large."""

    def __init__(self, name: str, summary: str, bounds: tuple[float, ...]) -> None:
        self.name, self.summary, self.bounds = name, summary, bounds
        self.counts, self.sum = [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """One more value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self) -> list[str]:
        """Cumulative counts."""
        found, below = [f"# HELP {self.name} {self.summary}", f"# TYPE {self.name} histogram"], 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            below += count
            found.append(f'{self.name}_bucket{{le="{bound}"}} {below}')
        return [*found, f"{self.name}_sum {self.sum:.6f}", f"{self.name}_count {below}"]


class Metrics:
    """All counts of one server, since it was started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # path, status
        self.rows: Counter[str] = Counter()  # answered, refused
        self.restarts = self.swaps = self.failed_swaps = 0
        self.seconds = Histogram("atento_request_seconds", "Time from a request to its answer.", SECONDS)
        self.batches = Histogram("atento_batch_rows", "Rows that were answered together.", ROWS)

    def text(self, *, card: ModelCard, ready: bool, waiting: int) -> str:
        """One line a number."""
        requests = [
            f'atento_requests_total{{path="{path}",status="{status}"}} {count}'
            for (path, status), count in sorted(self.requests.items())
        ]
        rows = [f'atento_rows_total{{result="{result}"}} {self.rows[result]}' for result in ("answered", "refused")]
        info = f'atento_model_info{{id="{card.id}",task="{card.task}",model="{escaped(card.model)}"}} 1'
        lines = [
            *family("atento_requests_total", "counter", "Requests by path and status.", requests),
            *family("atento_rows_total", "counter", "Rows that were answered or refused.", rows),
            *self.seconds.lines(),
            *self.batches.lines(),
            *single("atento_queue_rows", "gauge", "Rows that wait.", waiting),
            *single("atento_ready", "gauge", "1 while a model can answer.", int(ready)),
            *single("atento_worker_restarts_total", "counter", "Model processes that were replaced.", self.restarts),
            *single("atento_model_swaps_total", "counter", "Models that took the place of another.", self.swaps),
            *single("atento_failed_swaps_total", "counter", "Models that could not.", self.failed_swaps),
            *family("atento_model_info", "gauge", "The model that answers now.", [info]),
        ]
        return "\n".join(lines) + "\n"


def family(name: str, kind: str, summary: str, samples: list[str]) -> list[str]:
    """The samples of one name with its description."""
    return [f"# HELP {name} {summary}", f"# TYPE {name} {kind}", *samples]


def single(name: str, kind: str, summary: str, value: int) -> list[str]:
    """One number."""
    return family(name, kind, summary, [f"{name} {value}"])


def escaped(text: str) -> str:
    """A text as the value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
