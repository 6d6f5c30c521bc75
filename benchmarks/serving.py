"""A served model beside a LitServe server of the same model: throughput and p99 of 200 clients, by turns.

    OMP_NUM_THREADS=1 python benchmarks/serving.py [--seconds 60]

LitServe is not a dependency: pip install litserve. Both servers run on one thread and batch what waits; LitServe
waits 5 ms for more. A miss ends with exit code 1. What a server must hold by itself is measured by
benchmarks/reliability/many_clients.py. Server and clients share the cores of one machine, so figures on a busy machine
are too low for both peers.
"""

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("reliability")))
from clients import BODIES, TEXTS, Crowd, ask, crowd, request_of, running, serving, small_model

CLIENTS, TURNS = 200, 3
PORT = 8472
PLAIN = [json.dumps({"text": text}).encode() for text in TEXTS]  # LitServe takes a row by itself
LITSERVE = """
import sys
import litserve
import torch
import atento

class Api(litserve.LitAPI):
    def setup(self, device):
        torch.set_num_threads(1)
        self.run = atento.load(sys.argv[1], device="cpu")

    def decode_request(self, request):
        return request["text"]

    def batch(self, inputs):
        return list(inputs)

    def predict(self, texts):
        return self.run.answers(texts, ())

    def unbatch(self, output):
        return output

    def encode_response(self, output):
        return {"label": output.text, "probabilities": dict(output.probabilities)}

if __name__ == "__main__":
    server = litserve.LitServer(Api(max_batch_size=256, batch_timeout=0.005), accelerator="cpu", timeout=60)
    server.run(host="127.0.0.1", port=int(sys.argv[2]), generate_client_file=False, log_level="error")
"""


@contextmanager
def lit_serving(folder: Path) -> Iterator[int]:
    """A LitServe server of a run, from its first answer."""
    script = folder.with_name("litserver.py")
    script.write_text(LITSERVE, encoding="utf-8")
    with running([sys.executable, str(script), str(folder), str(PORT)]):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if ask(PORT, request_of(PLAIN[0], PORT)).status == 200:
                    break
            except (OSError, EOFError):
                time.sleep(0.1)
        yield PORT


def tell(name: str, seen: list[Crowd]) -> tuple[float, float]:
    """Throughput and p99, each the median of the turns."""
    rates, p50s, p99s = (
        sorted(values) for values in zip(*((one.per_second, one.p50, one.p99) for one in seen), strict=True)
    )
    middle = len(seen) // 2
    failed = sum(one.statuses.total() - one.statuses["200"] for one in seen)
    print(
        f"{name:10s} {rates[middle]:8,.0f}/s  p50 {1000 * p50s[middle]:6.1f} ms  p99 {1000 * p99s[middle]:6.1f} ms  "
        f"p99/p50 {p99s[middle] / p50s[middle]:.2f}  {failed} failed",
        flush=True,
    )
    return rates[middle], p99s[middle]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60, help="for each server, divided into turns")
    seconds = parser.parse_args().seconds / TURNS
    if importlib.util.find_spec("litserve") is None:
        print("LitServe is not installed: pip install litserve")
        return 1
    with tempfile.TemporaryDirectory(prefix="atento-serving-") as place:
        folder = small_model(Path(place))
        ours: list[Crowd] = []
        theirs: list[Crowd] = []
        with serving(folder) as port, lit_serving(folder) as other:
            for at, bodies in ((port, BODIES), (other, PLAIN)):
                crowd(at, 20, 2, bodies)  # warm
            for _ in range(TURNS):  # a server that nobody asks takes no time from the other
                ours.append(crowd(port, CLIENTS, seconds))
                theirs.append(crowd(other, CLIENTS, seconds, PLAIN))
    (rate, tail), (peer_rate, peer_tail) = tell("atento", ours), tell("LitServe", theirs)
    good = rate >= peer_rate and tail <= peer_tail
    ratios = f"throughput {rate / peer_rate:.2f}, p99 {tail / peer_tail:.2f}"
    print(f"atento / LitServe: {ratios}: {'met' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
