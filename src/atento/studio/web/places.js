// Addresses of the screens: #/runs/numbers-1/inside?set=… A part of an address may hold any text, also a slash.

/** The address of a screen: placeOf("runs", id, "board"); the last argument may be a query: { task: "classify", set: ["a=1"] }. */
export function placeOf(...parts) {
  const query = typeof parts.at(-1) === "object" ? parts.pop() : {};
  const asked = new URLSearchParams();
  Object.entries(query).forEach(([key, value]) => [value].flat().forEach((one) => one !== null && one !== undefined && one !== "" && asked.append(key, one)));
  const tail = asked.size ? `?${asked}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${tail}`;
}

/** Go to an address of `placeOf`. */
export function goTo(place) {
  location.hash = place;
}

/** The screen of an address with its parameters, or null. */
export function matched(screens, hash) {
  const [path, asked = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean);
  for (const screen of screens) {
    const wanted = screen.path.split("/").filter(Boolean);
    if (wanted.length !== parts.length || !wanted.every((name, at) => name.startsWith(":") || name === parts[at])) continue;
    const params = Object.fromEntries(wanted.flatMap((name, at) => (name.startsWith(":") ? [[name.slice(1), plainText(parts[at])]] : [])));
    return { screen, params, query: new URLSearchParams(asked) };
  }
  return null;
}

function plainText(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
