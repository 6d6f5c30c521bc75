// Elements made in a line, copying to the clipboard, saving a file, and data as comma-separated values.

/** An element with properties and children: make("p", { className: "note" }, "text"). */
export function make(name, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...inside);
  return made;
}

export function button(text, pressed, className = "small") {
  const made = make("button", { type: "button", className, textContent: text });
  made.addEventListener("click", pressed);
  return made;
}

/** Put a text on the clipboard; where a browser refuses the new way, by the old one. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text, className: "hidden" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** A button that copies and says so for a moment. */
export function copyButton(text, name, content, copied = "Copied") {
  const made = button(text, async () => {
    await copyText(content());
    made.textContent = copied;
    document.body.append(announcer);
    announcer.textContent = `${name} was copied.`;
    setTimeout(() => { made.textContent = text; }, 1500);
  });
  made.ariaLabel = `Copy ${name}`;
  return made;
}

/** A folded menu that copies or saves the same data in several forms. */
export function copyMenu(name, forms, texts = { copyOrSave: "Copy or save", copy: "Copy", save: "Save", copied: "Copied" }) {
  const rows = Object.entries(forms).map(([form, content]) => make("div", { className: "form" },
    make("span", { textContent: form }),
    copyButton(texts.copy, `${name} as ${form}`, content, texts.copied),
    Object.assign(button(texts.save, () => saveText(content(), `${name}.${ENDINGS[form]}`)), { ariaLabel: `Save ${name} as ${form}` })));
  const menu = make("details", { className: "menu" }, make("summary", { textContent: texts.copyOrSave }), make("div", { className: "forms" }, ...rows));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.firstChild.focus();
  });
  document.addEventListener("pointerdown", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  return menu;
}

const ENDINGS = { CSV: "csv", JSON: "json", SVG: "svg", Markdown: "md" };

function saveText(text, name) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Records as comma-separated values (RFC 4180); a cell that a spreadsheet would run as a formula is quoted with '. */
export function csvOf(records) {
  const keys = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [keys.map(cell).join(","), ...records.map((record) => keys.map((key) => cell(record[key])).join(","))].join("\r\n") + "\r\n";
}

const announcer = make("p", { className: "hidden", role: "status" });
