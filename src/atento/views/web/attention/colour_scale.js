// Colour scales whose lightness changes evenly with the weight: safe for colour-blind eyes, and right in grey.

const STEPS = 256;
// Colours a scale passes through, from no weight to the largest; their places follow from their lightness.
const ANCHORS = {
  light: ["#f1f4f6", "#bfe0dc", "#78bfca", "#3f92be", "#255fa5", "#0d2a66"],
  dark: ["#232a33", "#1d4a70", "#1f7590", "#43a58e", "#a3d184", "#f8f3ad"],
  overlay: ["#2a1650", "#6a1f78", "#b23a6b", "#e8684a", "#f9a73c", "#fbf4a0"], // on images
};
const COLOURS = {
  light: { paper: "#ffffff", text: "#1c2127", soft: "#57606a", rule: "#dfe3e8", mark: "#b8390a", link: "13, 75, 160", more: "8, 92, 173", less: "184, 77, 10" },
  dark: { paper: "#14171b", text: "#e7eaee", soft: "#a0a9b3", rule: "#323941", mark: "#ff9d5c", link: "116, 190, 255", more: "108, 178, 255", less: "255, 157, 92" },
};
export const COLOUR_RANGES = {
  root: "0 to 1, square root",
  linear: "0 to 1, linear",
  largest: "0 to the largest",
};
const SMALL = 0.04; // where the largest weight is below this, colours go up to it
const FULL_LINK = 0.4; // a weight whose link is as strong as links are

const tables = new Map();

/** Everything that is drawn in one theme: the colours of text and marks, and the scale of weights. */
export function paletteOf(dark) {
  const theme = dark ? "dark" : "light";
  return { ...COLOURS[theme], dark, scale: scaleOf(theme) };
}

/** The colours of a scale as [red, green, blue], and packed for image data. */
export function scaleOf(name) {
  if (!tables.has(name)) {
    const colours = evenly(ANCHORS[name].map(fromHex));
    tables.set(name, { colours, packed: Uint32Array.from(colours, ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0) });
  }
  return tables.get(name);
}

/** From a weight to a place between 0 and 1 on the scale. */
export function positionOf(range, largest) {
  const kind = range ?? (largest < SMALL ? "largest" : "root");
  if (kind === "root") return (weight) => Math.sqrt(Math.min(Math.max(weight, 0), 1));
  const top = kind === "largest" ? largest || 1 : 1;
  return (weight) => Math.min(Math.max(weight / top, 0), 1);
}

/** From a weight to the strength of a link: weights that are spread evenly stay thin, whatever the largest is. */
export function strengthOf(largest) {
  const full = largest < SMALL ? largest || 1 : Math.max(largest, FULL_LINK);
  return (weight) => Math.min(weight / full, 1);
}

/** The weights that a legend names. */
export function legendTicks(range, largest) {
  const kind = range ?? (largest < SMALL ? "largest" : "root");
  if (kind === "root") return [0, 0.1, 0.25, 0.5, 1];
  const top = kind === "largest" ? largest || 1 : 1;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => share * top);
}

export function colourAt(scale, place) {
  return scale.colours[Math.round(place * (STEPS - 1))];
}

/** The packed colour of every weight of a matrix; what cannot be seen, or is below the threshold, is transparent. */
export function paint(matrix, scale, position, threshold, pixels) {
  const { values } = matrix;
  const { packed } = scale;
  const empty = threshold > 0 ? packed[0] : 0;
  for (let at = 0; at < values.length; at += 1) {
    const weight = values[at];
    if (weight !== weight) pixels[at] = 0;
    else if (weight < threshold) pixels[at] = empty;
    else pixels[at] = packed[Math.round(position(weight) * (STEPS - 1))];
  }
}

/** A matrix as a bitmap of one pixel a cell. */
export function bitmapOf(matrix, scale, position, threshold) {
  const canvas = new OffscreenCanvas(Math.max(matrix.columns, 1), Math.max(matrix.rows, 1));
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  paint(matrix, scale, position, threshold, new Uint32Array(image.data.buffer));
  context.putImageData(image, 0, 0);
  return canvas;
}

// The path through the anchors in OKLab (Ottosson, 2020), taken in steps of equal lightness.
function evenly(anchors) {
  const path = [];
  const points = anchors.map(toLab);
  points.slice(1).forEach((to, index) => {
    for (let step = 0; step < 64; step += 1) path.push(between(points[index], to, step / 64));
  });
  path.push(points.at(-1));
  const [first, last] = [path[0][0], path.at(-1)[0]];
  return Array.from({ length: STEPS }, (_, step) => {
    const lightness = first + ((last - first) * step) / (STEPS - 1);
    const at = path.findIndex((point) => (last > first ? point[0] >= lightness : point[0] <= lightness));
    return fromLab([lightness, ...path[at < 0 ? path.length - 1 : at].slice(1)]);
  });
}

function between(from, to, share) {
  return from.map((value, index) => value + (to[index] - value) * share);
}

function fromHex(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

export function toLab(colour) {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}

function fromLab([lightness, green, blue]) {
  const long = (lightness + 0.3963377774 * green + 0.2158037573 * blue) ** 3;
  const middle = (lightness - 0.1055613458 * green - 0.0638541728 * blue) ** 3;
  const short = (lightness - 0.0894841775 * green - 1.291485548 * blue) ** 3;
  const linear = [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ];
  return linear.map((value) => {
    const share = value <= 0.0031308 ? 12.92 * value : 1.055 * Math.max(value, 0) ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(share, 0), 1));
  });
}
