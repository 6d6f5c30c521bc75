// Pages that the toolkit writes, with scripts of their own: each stands in a frame that can reach nothing.

import { make } from "../elements.js";

/** A page in a frame. */
export function framed(address, name) {
  const frame = make("iframe", { className: "page-frame", src: address, title: name });
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  return frame;
}

/** The address of a view of `atento look`; a view that reads no source has no text. */
export function viewAddress(id, what, text = "") {
  return `/pages/${encodeURIComponent(id)}/look/${what}.html${text ? `?text=${encodeURIComponent(text)}` : ""}`;
}
