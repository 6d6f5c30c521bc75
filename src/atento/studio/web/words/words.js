// The words of the page in the reader's language: words("start.title"), words("x.rows", { count: 7 }).

import en from "./en.js";
import enInside from "./en_inside.js";
import es from "./es.js";
import esInside from "./es_inside.js";

const ALL = { en: { ...en, ...enInside }, es: { ...es, ...esInside } };
export const LANGUAGES = [["en", "English"], ["es", "Español"]];
const KEPT = "atento.language";
const SLOT = /\{(\w+)\}/;

/** The language that was chosen, else the browser's, else English. */
export function startLanguage() {
  const chosen = kept() ?? navigator.language.slice(0, 2);
  return chosen in ALL ? chosen : "en";
}

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a browser may forbid it
  }
}

export function keepLanguage(language) {
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // the choice then lasts as long as the page
  }
}

/**
 * A function from keys to texts in one language. {name} in a text is filled from the values; with a number `count`,
 * key.one or key.other is taken as the language counts. `words.parts` returns nodes, so that a value may be an element.
 */
export function wordsOf(language) {
  const texts = ALL[language];
  const plural = new Intl.PluralRules(language);
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0, useGrouping: "always" });

  function textOf(key, values) {
    if (typeof values.count === "number" && `${key}.other` in texts) {
      return texts[`${key}.${plural.select(values.count)}`] ?? texts[`${key}.other`];
    }
    return texts[key] ?? key;
  }

  function parts(key, values = {}) {
    return textOf(key, values).split(SLOT).map((part, at) => {
      if (at % 2 === 0) return part;
      const value = values[part];
      return typeof value === "number" ? words.number(value) : value ?? "";
    });
  }

  const words = (key, values = {}) => parts(key, values).join("");
  words.parts = parts;
  words.language = language;
  words.number = (value, digits = 0) => (digits ? new Intl.NumberFormat(language, { maximumFractionDigits: digits, useGrouping: "always" }) : whole).format(value);
  words.percent = (share, digits = 0) => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: digits }).format(share);
  words.score = (value) => (Number.isFinite(value) ? new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(value) : "–");
  words.time = (seconds) => duration(seconds, words);
  words.day = (stamp) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(stamp));
  return words;
}

function duration(seconds, words) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${words.number(seconds, seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60), rest = Math.round(seconds % 60);
  if (minutes < 60) return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
