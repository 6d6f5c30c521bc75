// What is looked at: tokens under the pointer or the keyboard, shared by every open view and model.

/**
 * The tokens under the pointer: a query and a key, each as { line, index }, where a line is a sequence of tokens.
 * A view lights up a token when it shows the same line, whatever map or model it was pointed at in.
 */
export function makeSelection() {
  const listeners = new Set();
  const selection = { query: null, key: null, pinned: false };
  const same = (one, other) => one?.line === other?.line && one?.index === other?.index;
  selection.point = (query, key, { pinned = false } = {}) => {
    if (same(query, selection.query) && same(key, selection.key) && pinned === selection.pinned) return;
    Object.assign(selection, { query, key, pinned });
    listeners.forEach((tell) => tell());
  };
  selection.clear = () => selection.point(null, null);
  selection.follow = (tell) => {
    listeners.add(tell);
    return () => listeners.delete(tell);
  };
  return selection;
}

/** Where the selected tokens stand in a map: its row and its column, or null; of self-attention elsewhere, a row. */
export function placeIn(map, selection) {
  const { query, key } = selection;
  const row = query?.line === map.lines.query ? query.index : null;
  const column = key?.line === map.lines.key ? key.index : null;
  if (row === null && key?.line === map.lines.query) return { row: key.index, column: null };
  if (row === null && column === null && query?.line === map.lines.key) return { row, column: query.index };
  return { row, column };
}

/** Point at a cell of a map; either may be null. */
export function pointAt(map, selection, row, column, options) {
  const token = (line, index) => (index === null || index === undefined ? null : { line, index });
  selection.point(token(map.lines.query, row), token(map.lines.key, column), options);
}
