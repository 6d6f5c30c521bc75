// What a page of ours does when it is opened: the viewer is shown, and on paper everything is unfolded.

import { showAttention } from "./gallery.js";

// On paper nothing can be clicked: what was folded is opened, and folded again afterwards.
function unfoldForPrint() {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
}

const stored = document.getElementById("attention-views");
if (stored) showAttention(document.getElementById("gallery"), JSON.parse(stored.textContent));
unfoldForPrint();
