"""What each way of attending costs, counted: the exponents of the cost table against theory."""

import importlib.util
from pathlib import Path

import pytest
import torch

SIZE = 4


def load_table():
    """The benchmark that prints the table; benchmarks are no package, so it is loaded by its place."""
    place = Path(__file__).parents[2] / "benchmarks" / "cost_table.py"
    found = importlib.util.spec_from_file_location("cost_table", place)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


TABLE = load_table()
ROWS = {
    "block-local": "C01",
    "strided": "C02",
    "fixed": "C02",
    "adaptive span": "C03",
    "performer": "C04",
    "performer, causal": "C04",
    "linformer": "C05",
}

every_kind = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=name, marks=pytest.mark.spec("C06", *([ROWS[name]] if name in ROWS else [])))
        for name in TABLE.KINDS
    ],
)


SHORT = (256, 400, 576)  # what is dense or steps one by one takes long to count


@every_kind
def test_operations_grow_as_theory_says(name, monkeypatch):
    if name.startswith(("dense", "recurrent")):
        monkeypatch.setattr(TABLE, "LENGTHS", SHORT)
    _, found = TABLE.fitted(TABLE.KINDS[name], TABLE.operations, SIZE)
    assert found == pytest.approx(TABLE.KINDS[name].operations, abs=0.05)


@every_kind
def test_memory_grows_as_theory_says(name):
    torch.set_default_dtype(torch.float32)  # half as much to write
    _, found = TABLE.fitted(TABLE.KINDS[name], TABLE.kept, TABLE.THIN)
    assert found == pytest.approx(TABLE.KINDS[name].memory, abs=0.05)


@every_kind
def test_only_a_recurrence_has_steps_that_wait_for_each_other(name, monkeypatch):
    if name.startswith(("dense", "recurrent")):
        monkeypatch.setattr(TABLE, "LENGTHS", SHORT)
    chains, found = TABLE.fitted(TABLE.KINDS[name], TABLE.depth, SIZE)
    assert found == pytest.approx(TABLE.KINDS[name].depth, abs=0.05)
    assert name == "recurrent" or max(chains) < 60


def test_the_theory_of_the_table_is_the_papers():
    """Dense attention is quadratic, two factors are n√n, the linear ones linear (each paper's own claim)."""
    claims = {name: (kind.operations, kind.depth) for name, kind in TABLE.KINDS.items()}
    assert claims["dense, written out"] == claims["dense, fused"] == (2, 0)
    assert claims["strided"] == claims["fixed"] == (1.5, 0)
    linear = ("local", "block-local", "adaptive span", "performer", "performer, causal", "linformer")
    assert {claims[name] for name in linear} == {(1, 0)}
    assert claims["recurrent"] == (1, 1)


def test_the_counters_count_what_is_known():
    """A product of n × d and d × n takes 2 n² d operations; its gradients twice that. It keeps both factors."""
    left, right = (torch.randn(1, 11, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def product(query, key, value):
        return query @ key.mT

    items = [left, right, right]
    assert TABLE.operations(product, items) == 3 * 2 * 11 * 11 * 5
    assert TABLE.kept(product, items) == 2 * 11 * 5 * 8
    assert TABLE.depth(lambda query, key, value: query.exp().exp().exp(), items) == 4  # three steps and the leaf
    assert TABLE.exponent((2, 4, 8), [12, 48, 192]) == pytest.approx(2)


def test_a_walk_steps_and_a_scan_does_not():
    """What the second table compares: the same minGRU, by a chain of n steps and by one function of 2 log₂ n rounds."""
    chains = {}
    for name in ("mingru, step by step", "mingru, scan"):
        walk = TABLE.WALKS[name]
        chains[name] = [TABLE.depth(walk.reader(n, SIZE), TABLE.some_items(n, SIZE, 3)) for n in (16, 64)]
    stepped, scanned = chains.values()
    assert stepped[1] - stepped[0] >= 64 - 16 and scanned[0] == scanned[1]
    assert [TABLE.WALKS["mingru, scan"].rounds(n) for n in (64, 1024, 1025)] == [12, 20, 22]
