"""F9: 200 clients at once: no failure, p99/p50 at most 1.5, at least 3 times the throughput of one client, every answer
that of a quiet server. 2,000 clients: every answer is 200, or 503 with Retry-After.

    python benchmarks/reliability/many_clients.py [--count 60] [--seed 0]

The count is the seconds that the 200 ask. Server, model and clients share the cores of one machine: whatever else runs
there makes the tail longer.
"""

import sys
from collections.abc import Sequence

from clients import crowd, different, serving, small_model
from measure import options, verdict, workshop

CLIENTS, CROWD = 200, 2000
MOST_SPREAD, LEAST_GAIN = 1.5, 3.0


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=60)
    with workshop() as folder, serving(small_model(folder)) as port:
        crowd(port, 20, min(2, given.count))  # warm
        alone = crowd(port, 1, min(10, given.count))
        many = crowd(port, CLIENTS, given.count)
        wrong, equal = different(many, port)
        all_of_them = crowd(port, CROWD, min(10, given.count))
    failed = many.statuses.total() - many.statuses["200"]
    spread, gain = many.p99 / many.p50, many.per_second / alone.per_second
    known = set(all_of_them.statuses) <= {"200", "503 + Retry-After"}
    times = f"p50 {1000 * many.p50:.1f} ms, p99 {1000 * many.p99:.1f} ms, p99/p50 {spread:.2f}"
    figure = (
        f"{CLIENTS} clients, {given.count} s: {many.statuses.total():,} requests, {failed} failed, "
        f"{many.per_second:,.0f}/s ({gain:.1f} × one client), {times}, {wrong} answers differ "
        f"({equal:.0%} bit-equal); {CROWD:,} clients: {dict(all_of_them.statuses)}"
    )
    target = f"0 failed, {LEAST_GAIN:g} ×, p99/p50 {MOST_SPREAD}, 0 differ, only 200 or 503 + Retry-After"
    good = not failed and not wrong and known
    return verdict("F9", figure, target, met=good and spread <= MOST_SPREAD and gain >= LEAST_GAIN)


if __name__ == "__main__":
    sys.exit(main())
