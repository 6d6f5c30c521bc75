// The studio: a bar, a banner and one screen at a time, chosen by the part of the address after #.

import { makeMenu } from "/static/attention/elements.js";
import { api, onConnection } from "./api.js";
import { make, problemCard } from "./elements.js";
import { goTo, matched, placeOf } from "./places.js";
import { LANGUAGES, keepLanguage, startLanguage, wordsOf } from "./words/words.js";
import * as start from "./screens/start.js";
import * as inspect from "./screens/inspect.js";
import * as train from "./screens/train.js";
import * as watch from "./screens/watch.js";
import * as board from "./screens/board.js";
import * as inside from "./screens/inside.js";
import * as mistakes from "./screens/mistakes.js";
import * as tryIt from "./screens/try.js";
import * as ship from "./screens/ship.js";

// Each screen exports { path, title(words), show(element, { params, query, api, words, go }) -> stop() }; `path` holds
// names after a colon: "/runs/:id/board". `query` is what follows a ? in the address, as URLSearchParams.
const SCREENS = [start, inspect, train, watch, board, inside, mistakes, tryIt, ship];

const bar = document.getElementById("bar");
const banner = document.getElementById("banner");
const main = document.getElementById("screen");
let words = wordsOf(startLanguage());
let stop = () => {};
let shown = 0; // which screen is the newest: an older one that was still being made is stopped at once
let isGone = false;

async function showScreen() {
  const turn = (shown += 1);
  stop();
  stop = () => {};
  const found = matched(SCREENS, location.hash);
  const box = make("div", { className: "screen" });
  main.replaceChildren(box);
  if (!found) {
    document.title = words("app.name");
    box.append(make("h1", { textContent: words("app.nowhere") }), make("p", {}, make("a", { href: placeOf(), textContent: words("app.back_to_start") })));
    return;
  }
  const { screen, params, query } = found;
  document.title = `${screen.title(words)} · ${words("app.name")}`;
  try {
    const ended = await screen.show(box, { params, query, api, words, go: goTo });
    if (turn === shown) stop = ended ?? (() => {});
    else ended?.();
  } catch (error) {
    if (turn === shown) box.append(problemCard(error, words));
  }
}

/** Where a reader is after a click: at the top of the new screen, also for a screen reader. */
async function travel() {
  const made = showScreen();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  await made;
}

function drawBar(folder = bar.dataset.folder ?? "") {
  bar.dataset.folder = folder;
  const language = makeMenu(words("app.language"), LANGUAGES, words.language, (chosen) => {
    keepLanguage(chosen);
    speak(chosen);
    showScreen();
    bar.querySelector("select").focus();
  });
  bar.replaceChildren(
    make("a", { className: "brand", href: placeOf() }, make("strong", { textContent: "atento" }), " studio"),
    make("span", { className: "folder", title: words("app.folder") }, make("bdi", { textContent: folder })),
    language,
  );
}

function drawBanner() {
  banner.replaceChildren();
  banner.className = isGone ? "gone" : "";
  if (isGone) banner.append(make("p", {}, ...words.parts("app.gone", { command: make("code", { textContent: "atento studio" }) })));
}

function speak(language) {
  words = wordsOf(language);
  document.documentElement.lang = language;
  drawBar();
  drawBanner();
}

async function setUp() {
  speak(words.language);
  onConnection((gone) => {
    isGone = gone;
    drawBanner();
  });
  addEventListener("hashchange", travel);
  showScreen();
  try {
    drawBar((await api.get("/api/workspace")).folder);
  } catch {
    // the screen has the same problem, and says so
  }
}

setUp();
