// Words of commands, to be pasted into a shell.

const PLAIN = /^[\w./+@%:,][\w./+@%:,-]*$/;

/** A word as a shell reads it: quoted where it holds anything but plain signs. */
export function quoted(part) {
  return PLAIN.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`;
}
