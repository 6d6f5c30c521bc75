// From numbers to places in a chart, round ticks, and numbers as people write them in the language of the page. No state.

const STEPS = [1, 2, 2.5, 5, 10];
const NEARLY = 1e-9;
const NOISE = 1e-4; // relative difference of two values that are equal but for rounding
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const CLOCK_STEPS = [1, 5, 15, 30].map((count) => count * SECOND)
  .concat([1, 5, 15, 30].map((count) => count * MINUTE))
  .concat([1, 3, 6, 12].map((count) => count * HOUR))
  .concat([1, 2, 7, 14].map((count) => count * DAY));
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A scale from [low, high] in the data to [start, stop] in pixels; `log` maps logarithms. */
export function makeScale(low, high, start, stop, log = false) {
  const of = log ? Math.log10 : (value) => value;
  const [first, last] = [of(low), of(high)];
  return {
    low, high, start, stop, log,
    place: (value) => start + ((stop - start) * (of(value) - first)) / (last - first || 1),
    value: (place) => {
      const moved = first + ((last - first) * (place - start)) / (stop - start);
      return log ? 10 ** moved : moved;
    },
  };
}

/** Round numbers of a scale, at most about so many. */
export function ticksOf(scale, most, kind = "number") {
  if (kind === "date") return dateTicks(scale.low, scale.high, most);
  if (scale.log) return logTicks(scale.low, scale.high, most);
  const unit = kind === "duration" ? durationUnit(scale.high).size : 1;
  const step = roundStep((scale.high - scale.low) / unit / most) * unit;
  const [first, last] = [Math.ceil(scale.low / step - NEARLY), Math.floor(scale.high / step + NEARLY)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

export function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return (STEPS.find((step) => step * power >= least * (1 - NEARLY)) ?? 10) * power;
}

function logTicks(low, high, most) {
  const [first, last] = [Math.ceil(Math.log10(low) - NEARLY), Math.floor(Math.log10(high) + NEARLY)];
  if (last - first >= 3) {
    const every = Math.ceil((last - first) / most) || 1;
    return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, at) => 10 ** (first + at * every));
  }
  if (Math.log10(high / low) < 0.3) return ticksOf(makeScale(low, high, 0, 1), most);
  let ticks = [];
  for (const digits of [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    ticks = [];
    for (let power = first - 1; power <= last; power += 1) ticks.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    ticks = ticks.filter((tick) => tick >= low * (1 - NEARLY) && tick <= high * (1 + NEARLY));
    if (ticks.length <= most) break;
  }
  return ticks;
}

function dateTicks(low, high, most) {
  const step = CLOCK_STEPS.find((size) => (high - low) / size <= most);
  if (step) {
    const first = Math.ceil(low / step);
    return Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, at) => (first + at) * step);
  }
  const months = (high - low) / (30.44 * DAY);
  const every = MONTH_STEPS.find((count) => months / count <= most) ?? roundStep(months / 12 / most) * 12;
  const start = new Date(low), ticks = [];
  for (let month = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / every) * every; ; month += every) {
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
    if (date > high) return ticks;
    if (date >= low) ticks.push(Number(date));
  }
}

/** The limits of values with some room around them; shares that spread widely get all of 0 to 1. */
export function limitsOf(values, log = false) {
  const known = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (!known.length) return log ? [0.1, 1] : [0, 1];
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  if (log) {
    const room = Math.max((high / low) ** 0.06, 1.02);
    return [low / room, high * room];
  }
  if (low >= 0 && high <= 1 && high - low > 0.4) return [0, 1];
  const margin = (high - low) * 0.08 || Math.abs(high) * 0.1 || 0.1;
  const top = low >= 0 && high <= 1 ? Math.min(1, high + margin) : high + margin; // most of what stays below 1 is a share
  return [low >= 0 ? Math.max(0, low - margin) : low - margin, top];
}

/** A number of an axis: 0.3, 40, 12,500, 2M, 1e−7. */
export function tickText(value, kind = "number", { low = value, high = value } = {}) {
  if (kind === "date") return dateTick(value, high - low);
  if (kind === "duration") return plain(value / durationUnit(high).size);
  return plain(value);
}

function plain(value, language) {
  const size = Math.abs(value);
  let text;
  if (size && size < 0.001) text = value.toExponential().replace(/\.?0*e/, "e").replace("e+", "e");
  else if (size >= 1e9) text = `${grouped(value / 1e9, language)}G`;
  else if (size >= 1e6) text = `${grouped(value / 1e6, language)}M`;
  else text = grouped(value, language);
  return text.replaceAll("-", "−");
}

function grouped(value, language) {
  return localized(Number(value.toPrecision(10)), 10, 0, language);
}

function localized(value, digits = 0, least = 0, language = undefined) {
  const format = { maximumFractionDigits: digits, minimumFractionDigits: least, useGrouping: "always" };
  return value.toLocaleString(language || globalThis.document?.documentElement.lang || "en", format);
}

/** A value in a sentence: four digits, with separators, in the unit of its kind; in a language other than the page's, if given. */
export function valueText(value, kind = "number", language = undefined) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (kind === "date") return dateText(value);
  if (kind === "duration") {
    const { size, name } = durationUnit(value, 2);
    return `${plain(Number((value / size).toFixed(1)))} ${name}`;
  }
  if (kind === "memory") return value >= 4096 ? `${localized(value / 1024, 1, 1)} GB` : `${localized(value)} MB`;
  if (kind === "rate") return value >= 100 ? localized(value) : localized(value, 1, 1);
  if (Number.isInteger(value)) return localized(value, 0, 0, language).replace("-", "−");
  return plain(Number(value.toPrecision(4)), language);
}

export function durationUnit(seconds, from = 3) {
  if (seconds >= from * 3600) return { size: 3600, name: "h", long: "hours" };
  if (seconds >= from * 60) return { size: 60, name: "min", long: "minutes" };
  return { size: 1, name: "s", long: "seconds" };
}

function dateTick(value, span) {
  const date = new Date(value), year = date.getUTCFullYear(), month = MONTHS[date.getUTCMonth()];
  const isMidnight = value % DAY === 0;
  if (span > 4 * 366 * DAY) return `${year}`;
  if (span > 75 * DAY) return date.getUTCMonth() || span > 400 * DAY ? `${month} ${year}` : `${year}`;
  if (isMidnight) return `${date.getUTCDate()} ${month}`;
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${value % MINUTE ? `:${two(date.getUTCSeconds())}` : ""}`;
}

function dateText(value) {
  const date = new Date(value);
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  if (value % DAY === 0) return day;
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${value % MINUTE ? `:${two(date.getUTCSeconds())}` : ""}`;
}

const two = (number) => String(number).padStart(2, "0");

/** Exponential smoothing without the bias of its start (Kingma and Ba, 2015, sec. 3); gaps stay gaps. */
export function smoothed(values, weight) {
  if (!weight) return values;
  let last = 0, count = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return value;
    last = last * weight + (1 - weight) * value;
    count += 1;
    return last / (1 - weight ** count);
  });
}

/** The points that no other one beats in both x and y, the cheapest first. */
export function paretoFront(points, smallerX, smallerY) {
  const signs = [smallerX ? 1 : -1, smallerY ? 1 : -1];
  const sorted = [...points].sort((one, other) => signs[0] * (one.x - other.x) || signs[1] * (one.y - other.y));
  let best = Infinity;
  return sorted.filter((point) => {
    const wins = signs[1] * point.y < best - NOISE * Math.abs(point.y);
    if (wins) best = signs[1] * point.y;
    return wins;
  });
}

/** Places in the same order, near those wanted, `gap` apart and none beyond the bottom. */
export function spacedLabels(wanted, gap, bottom) {
  const order = wanted.map((_, at) => at).sort((one, other) => wanted[one] - wanted[other]);
  const places = [...wanted];
  order.forEach((at, rank) => { if (rank) places[at] = Math.max(places[at], places[order[rank - 1]] + gap); });
  let floor = bottom;
  [...order].reverse().forEach((at) => { places[at] = Math.min(places[at], floor); floor = places[at] - gap; });
  return places;
}
