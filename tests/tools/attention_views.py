"""Views of the attention viewer with weights that follow from a seed, for the tests of its pages."""

import numpy as np

from atento.views.attention.page import encode

SOURCE = ["das", "kleine", "Haus", "steht", "leer"]
OUTPUT = ["the", "small", "house", "stands", "empty", "today", "<end>"]
LAYERS, HEADS = 2, 3  # distinct primes with the numbers of tokens: a swapped axis cannot pass


def random_weights(layers, heads, queries, keys, *, seed=0, causal=False):
    """Weights (L, H, Q, K) that sum to 1 over the keys; what lies ahead of a causal query is NaN."""
    weights = np.random.default_rng(seed).dirichlet([0.4] * keys, size=(layers, heads, queries)).astype(np.float32)
    if causal:
        ahead = np.triu(np.ones((queries, keys), dtype=bool), k=1)
        weights = np.where(ahead, np.float32("nan"), weights)
        weights /= np.nansum(weights, axis=-1, keepdims=True)
    return weights


def make_map(name, kind, queries, keys, weights, **others):
    """A map of the data contract; entropy and the like are numbers that tell heads apart."""
    layers, heads = weights.shape[:2]
    numbers = (7 * np.arange(layers * heads) % (layers * heads)).reshape(layers, heads)
    return {
        "name": name,
        "kind": kind,
        "queries": list(queries),
        "keys": list(keys),
        "shape": list(weights.shape),
        "weights": encode(weights),
        "statistics": {key: (numbers / 10 + at).tolist() for at, key in enumerate(("entropy", "distance", "zeros"))},
        **others,
    }


def make_view(*, model="transformer", source=SOURCE, output=OUTPUT, layers=LAYERS, heads=HEADS, seed=0, **others):
    """A Transformer that translates: three maps, each token with what else could stand there, attributions."""
    sizes = {
        "encoder self-attention": ("self", source, source),
        "decoder self-attention": ("causal", output, output),
        "cross-attention": ("cross", output, source),
    }
    weights = {
        name: random_weights(layers, heads, len(queries), len(keys), seed=seed + at, causal=kind == "causal")
        for at, (name, (kind, queries, keys)) in enumerate(sizes.items())
    }
    view = {
        "model": model,
        "kind": "chosen",
        "source": " ".join(source),
        "output": " ".join(output[:-1]),
        "reference": "the small house is empty",
        "correct": False,
        "score": -0.43,
        "explanation": "",
        "maps": [make_map(name, kind, queries, keys, weights[name]) for name, (kind, queries, keys) in sizes.items()],
        "steps": [
            {
                "token": token,
                "alternatives": [{"token": token, "probability": 0.75}, {"token": f"not {token}", "probability": 0.2}],
                "beam": [{"text": " ".join(output[: at + 1]), "score": -0.1 * at}, {"text": "a", "score": -2.5}],
            }
            for at, token in enumerate(output)
        ],
        "attribution": {
            "method": "integrated gradients",
            "tokens": list(source),
            "values": [0.5, -1.25, 0.0, 0.75, 0.1][: len(source)] + [0.0] * (len(source) - 5),
            "target": "log-probability of the output",
            "remainder": 0.004,
        },
        **others,
    }
    return view, weights


def make_hierarchy():
    """Both levels of a hierarchical model: words within three sentences, and the sentences."""
    sizes = [2, 3, 5]
    words = [f"w{place}" for place in range(sum(sizes))]
    names = [f"sentence {number + 1}" for number in range(len(sizes))]
    inner = np.full((1, 1, len(sizes), len(words)), np.nan, dtype=np.float32)
    start = 0
    for row, size in enumerate(sizes):
        inner[0, 0, row, start : start + size] = np.random.default_rng(row).dirichlet([1.0] * size)
        start += size
    outer = np.float32([0.125, 0.625, 0.25]).reshape(1, 1, 1, 3)
    maps = [make_map("words", "words", names, words, inner), make_map("sentences", "sentences", ["text"], names, outer)]
    texts = {
        "model": "hierarchical",
        "kind": "chosen",
        "source": " ".join(words),
        "output": "good",
        "reference": "good",
    }
    return {**texts, "correct": True, "score": None, "explanation": "", "maps": maps}, inner, outer
