"""The attention viewer on a map of 1,000 × 1,000 tokens in Chromium: how long a frame takes to pan, zoom and hover.

Prints 50 ms over the slowest frame (95th percentile) last, larger is better; exits 1 when the target is missed.
"""

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from atento.views.attention.page import encode, render_views

TOKENS = 1000
TARGET = 50.0  # ms
FRAMES = 60

# Each act changes what is seen and is followed by a frame; the time from one frame to the next is what a user feels.
MEASURE = """async ([act, frames]) => {
    const canvas = document.querySelector(".attention-map");
    const box = canvas.getBoundingClientRect();
    const { left, top, plotWidth, plotHeight } = canvas.attention;
    const at = (step) => ({
        bubbles: true, cancelable: true, pointerId: 1, pointerType: "mouse",
        clientX: box.left + left + plotWidth * (0.2 + 0.6 * step / frames),
        clientY: box.top + top + plotHeight * (0.3 + 0.4 * step / frames),
    });
    const acts = {
        hover: (step) => canvas.dispatchEvent(new PointerEvent("pointermove", at(step))),
        zoom: (step) => canvas.dispatchEvent(new WheelEvent("wheel", { ...at(frames / 2), ctrlKey: true,
            deltaY: step < frames / 2 ? -40 : 40 })),
        pan: (step) => canvas.dispatchEvent(new PointerEvent("pointermove", at(step))),
    };
    const next = () => new Promise((done) => requestAnimationFrame(done));
    if (act === "pan") {
        for (let step = 0; step < 12; step += 1) acts.zoom(step);
        canvas.setPointerCapture = () => {};
        canvas.dispatchEvent(new PointerEvent("pointerdown", at(0)));
    }
    await next();
    const times = [];
    let before = await next();
    for (let step = 0; step < frames; step += 1) {
        acts[act](step);
        const now = await next();
        times.push(now - before);
        before = now;
    }
    if (act === "pan") canvas.dispatchEvent(new PointerEvent("pointerup", at(frames)));
    return times;
}"""


def long_view() -> dict[str, object]:
    """A view whose one map is as large as the target says, with weights that fall with distance."""
    places = np.arange(TOKENS)
    scores = 2 * np.random.default_rng(0).normal(size=(TOKENS, TOKENS)) - 0.05 * np.abs(places[:, None] - places)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    tokens = [f"token{place}" for place in places]
    stored = {
        "name": "encoder self-attention",
        "kind": "self",
        "queries": tokens,
        "keys": tokens,
        "shape": [1, 1, TOKENS, TOKENS],
        "weights": encode(weights),
    }
    texts = {"model": "transformer", "kind": "chosen", "source": " ".join(tokens), "output": "", "reference": ""}
    return {**texts, "correct": None, "score": None, "explanation": "", "maps": [stored]}


def main() -> int:
    program = shutil.which("chromium")
    if program is None:
        print("chromium is not installed")
        return 1
    slowest = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(render_views([long_view()]), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(path.as_uri())
        page.locator(".attention-map").wait_for()
        for act in ("hover", "zoom", "pan"):
            times = page.evaluate(MEASURE, [act, FRAMES])
            worst = sorted(times)[int(0.95 * len(times))]
            slowest.append(worst)
            print(f"{act}: median {statistics.median(times):.1f} ms a frame, 95 % within {worst:.1f} ms")
        browser.close()
    ratio = TARGET / max(slowest)
    print(f"{ratio:.2f}x of {TARGET:.0f} ms a frame   target 1x   {'ok' if ratio >= 1 else 'MISSED'}")
    return 0 if ratio >= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
