// Recipe keys with values, as they stand in an address ("set=data.split=60/20/20"), in a request, and in a choice.

/** The task, the settings and the rest that an address asks for. */
export function asked(query) {
  return { task: query.get("task") ?? "auto", settings: Object.assign({}, ...query.getAll("set").map(settingOf)) };
}

/** "key=value" as { key: value }; what is an object already stays one; several of them become one. */
export function settingOf(given) {
  if (Array.isArray(given)) return Object.assign({}, ...given.map(settingOf));
  if (typeof given !== "string") return { ...given };
  const at = given.indexOf("=");
  return at < 0 ? {} : { [given.slice(0, at)]: given.slice(at + 1) };
}

/** A value of a recipe as a person types it after --set. */
export function typed(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(typed).join(",");
  return String(value);
}
