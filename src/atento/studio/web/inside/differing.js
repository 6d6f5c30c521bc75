// Two texts word by word: what the one has and the other has not.

import { make } from "../elements.js";

const LONGEST = 200; // words; the work grows with their square

/** The words of a text as nodes, with those marked that no longest common subsequence with the other holds. */
export function differing(text, other) {
  const [own, wanted] = [text.split(" "), other.split(" ")];
  if (own.length > LONGEST || wanted.length > LONGEST) return [text];
  const kept = common(own, wanted);
  return own.flatMap((word, at) => [at ? " " : "", kept.has(at) ? word : make("mark", { textContent: word })]);
}

// Places of `own` in a longest common subsequence of both lists.
function common(own, wanted) {
  const lengths = Array.from({ length: own.length + 1 }, () => new Uint16Array(wanted.length + 1));
  for (let at = own.length - 1; at >= 0; at -= 1) {
    for (let to = wanted.length - 1; to >= 0; to -= 1) {
      lengths[at][to] = own[at] === wanted[to] ? lengths[at + 1][to + 1] + 1 : Math.max(lengths[at + 1][to], lengths[at][to + 1]);
    }
  }
  const kept = new Set();
  for (let at = 0, to = 0; at < own.length && to < wanted.length; ) {
    if (own[at] === wanted[to]) {
      kept.add(at);
      at += 1;
      to += 1;
    } else if (lengths[at + 1][to] >= lengths[at][to + 1]) at += 1;
    else to += 1;
  }
  return kept;
}
