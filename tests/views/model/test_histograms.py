"""Histograms of gradients and updates: counted anew in float64, and read in a browser."""

import json

import numpy as np
import pytest
import torch
from torch import nn

from atento.training.recorder import BINS, HistogramRecorder, bin_edges
from atento.views.model.histograms import histograms_page, histograms_text, histograms_view, save_histograms


@pytest.fixture(scope="module")
def recorded():
    """A few steps of Adam, and for every third the gradients and weights that it had."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(7, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    optimizer, recorder = torch.optim.Adam(module.parameters(), lr=1e-3), HistogramRecorder(module, every=3)
    records, kept = {}, {}
    for step in range(1, 10):
        optimizer.zero_grad()
        module(torch.randn(4, 7, dtype=torch.float64)).square().sum().backward()
        before = {name: weight.detach().clone() for name, weight in module.named_parameters()}
        with recorder.record(step):
            optimizer.step()
        found = recorder.take()
        if found:
            records[step] = found
            kept[step] = {
                name: (weight.grad.clone(), weight.detach() - before[name], before[name])
                for name, weight in module.named_parameters()
            }
    return records, kept


@pytest.mark.spec("V05")
def test_counts_are_those_of_numpy(recorded):
    records, kept = recorded
    assert list(records) == [3, 6, 9]
    for step, parts in records.items():
        assert list(parts) == ["0", "2"]
        for part, counts in parts.items():
            own = [kept[step][name] for name in kept[step] if name.startswith(f"{part}.")]
            gradients = torch.cat([gradient.flatten() for gradient, _, _ in own]).numpy()
            ratios = torch.cat([(moved / old).flatten() for _, moved, old in own]).numpy()
            for name, numbers in (("gradients", gradients), ("updates", ratios)):
                sizes = np.log10(np.abs(numbers[numbers != 0]))
                wanted, _ = np.histogram(np.clip(sizes, -12 + 1e-9, 4 - 1e-9), bins=BINS, range=(-12.0, 4.0))
                assert counts[name] == wanted.tolist(), (step, part, name)


@pytest.mark.spec("V05")
def test_recording_changes_nothing(recorded):
    def trained(every):
        torch.manual_seed(1)
        module = nn.Linear(7, 5)
        optimizer, recorder = torch.optim.Adam(module.parameters()), HistogramRecorder(module, every=every)
        for step in range(1, 8):
            optimizer.zero_grad()
            module(torch.randn(4, 7)).square().sum().backward()
            with recorder.record(step):
                optimizer.step()
        return module.weight

    assert torch.equal(trained(0), trained(2))


@pytest.mark.spec("V05")
def test_a_browser_reads_a_ridge(recorded, open_page):
    records, _ = recorded
    view = histograms_view(records, bin_edges(), model="<b>net")
    html = histograms_page(view)
    assert "<b>net" not in html
    page = open_page(html)
    assert page.locator(".ridge-box").count() == 4 and page.locator(".ridge").count() == 4 * 3
    box = page.locator("[data-ridge='1'][data-measure=updates]")
    counts = records[6]["2"]["updates"]
    place = int(np.argmax(counts))
    low, high = float(box.get_attribute("data-low")), float(box.get_attribute("data-high"))
    frame = box.locator("svg").bounding_box()
    zoom = frame["width"] / 460
    middle = (bin_edges()[place] + bin_edges()[place + 1]) / 2
    x = 56 + (middle - low) / (high - low) * (460 - 12 - 56)
    page.mouse.move(frame["x"] + x * zoom, frame["y"] + (44 + 15 - 4) * zoom)
    said = page.locator(".ridge-readout").text_content()
    assert said.startswith(f"2, step 6: {100 * counts[place] / sum(counts):.1f} % of |update| / |weight| between")
    box.focus()
    page.keyboard.press("ArrowDown")
    assert ", step 9: " in page.locator(".ridge-readout").text_content()
    narrow = open_page(html, width=360, color_scheme="dark")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


def test_words_and_files(recorded, tmp_path):
    view = histograms_view(recorded[0], bin_edges())
    text = histograms_text(view)
    assert text.startswith("medians at step 3 → 9 (3 records)")
    kept = torch.cat([one[0].flatten() for name, one in recorded[1][9].items() if name.startswith("2.")])
    shown = float(text.splitlines()[-1].split("→")[1].split()[0])
    assert shown == pytest.approx(kept.abs().median().item(), rel=0.5)  # within a bin
    assert json.loads(save_histograms(view, tmp_path / "a.json").read_text())["steps"] == [3, 6, 9]
    assert save_histograms(view, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
