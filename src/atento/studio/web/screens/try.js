// Try it: type a source and see the answer when the keys rest, how sure the model is, and what it attended to.

import { make, problemCard } from "../elements.js";
import { answerCard, attentionBox, imageOf, noteOf, shadedTokens } from "../inside/answer.js";
import { framed, viewAddress } from "../inside/frames.js";
import { loading, runHead } from "../inside/run_head.js";
import { newestOnly, sourceField } from "../inside/sources.js";
import { sameDrawer } from "../same.js";

export const path = "/runs/:id/try";
export const title = (words) => words("links.try");

export async function show(box, { params, query, api, words }) {
  const loaded = loading(box, words);
  const [run, examples] = await Promise.all([api.get(api.run(params.id)), api.get(api.run(params.id, "examples"))]);
  loaded();
  const ask = newestOnly();
  const state = make("p", { className: "note", role: "status" });
  const answer = make("div", { className: "answer-place", ariaLive: "polite" });
  const viewer = make("div");
  const drawer = sameDrawer({}, words);
  const field = sourceField(examples, { words, api, changed: read });
  let removeViewer = () => {};
  box.append(runHead(run, "try", words),
    make("div", { className: "two-sides" },
      make("section", { className: "tight" }, make("h2", { textContent: words("try.title") }), make("p", { className: "note", textContent: words(examples.typed ? "try.lead" : "try.lead_chosen") }), field.element, state),
      make("section", { className: "tight" }, make("h2", { textContent: words("try.answer") }), answer)),
    viewer, drawer);

  async function read(source) {
    if (!source.trim()) {
      ask.stop();
      removeViewer();
      removeViewer = () => {};
      [answer, viewer].forEach((place) => place.replaceChildren());
      state.textContent = "";
      return;
    }
    state.textContent = words("try.reading");
    const found = await ask((signal) => api.post(api.run(params.id, "explain"), { source }, { signal }));
    if (!found) return;
    state.textContent = "";
    removeViewer();
    removeViewer = () => {};
    viewer.replaceChildren();
    if (found.error) return answer.replaceChildren(problemCard(found.error, words));
    draw(found.answer, source, examples.expected?.[source] ?? []);
  }

  function draw(found, source, expected) {
    const known = expected.some(Boolean) && make("p", { className: "note" }, ...words.parts("try.expected", { expected: make("bdi", { textContent: expected.join(", ") }) }));
    answer.replaceChildren(imageOf(found.view, words) ?? "", answerCard(found.answer, words, { expected }), known || "", noteOf(found.note) ?? "",
      found.unknown?.length ? make("p", { className: "note" }, ...words.parts("try.unknown", { words: make("bdi", { textContent: found.unknown.join(", ") }) })) : "");
    drawer.update(found.same);
    if (run.task === "forecast") viewer.append(framed(viewAddress(params.id, "forecast", source), words("view.forecast")));
    if (found.attribution && !found.view?.image) viewer.append(make("section", { className: "tight" }, make("h2", { textContent: words("inside.what_moved") }), shadedTokens(found.attribution, words)));
    if (found.view?.maps.length) {
      const section = make("section", { className: "tight" }, make("h2", { textContent: words("inside.attention") }));
      viewer.append(section);
      removeViewer = attentionBox(section, [found.view]);
    }
  }

  const asked = query?.get("text");
  if (asked) field.set(asked);
  if (field.value()) read(field.value());
  return () => {
    field.stop();
    ask.stop();
    removeViewer();
  };
}
