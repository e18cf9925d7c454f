const LONG = 600;
const WORD = /[\p{L}\p{N}_]{2,}/gu;
const places = (text, wanted) => [...text.toLowerCase().matchAll(WORD)].filter((found) => wanted.has(found[0])).slice(0, 200);

/* Text of the data with some of its words marked. */
function marked(text, wanted, props) {
  if (!wanted || !wanted.size || text.toLowerCase().length !== text.length) return data(text, props);
  const nodes = [];
  let at = 0;
  for (const { index, 0: word } of places(text, wanted)) {
    nodes.push(text.slice(at, index), el("mark", { class: "word" }, text.slice(index, index + word.length)));
    at = index + word.length;
  }
  return el("bdi", { class: "data", ...props }, nodes, text.slice(at));
}

/* A piece of a text that holds as many of the wanted words as can be; its beginning if none is better. */
function excerpt(text, wanted, length) {
  if (text.length <= length) return text;
  const found = wanted && wanted.size ? places(text, wanted) : [];
  const inside = (from) => new Set(found.filter(({ index, 0: word }) => index >= from && index + word.length <= from + length).map((one) => one[0])).size;
  let best = 0;
  let most = inside(0);
  for (const { index } of found) {
    const from = text.lastIndexOf(" ", Math.max(index - length / 5, 0)) + 1;
    const n = inside(from);
    if (n > most) [best, most] = [from, n];
  }
  return (best ? "…" : "") + text.slice(best, best + length - 1).trimEnd() + (best + length - 1 < text.length ? "…" : "");
}

/* The parts of a text cell: what is in the report, and how much was cut off behind and before it. */
const textOf = (value) => (Array.isArray(value) ? value : [String(value), 0, 0]);
const wantedIn = (row, k) => new Set((row.w && row.w[k]) || []);

/* Text that may be long: the part that matters, and a button that shows the rest. */
function longText(value, wanted) {
  const [text, after, before] = textOf(value);
  const cut = after + before;
  const rest = cut ? el("span", { class: "muted" }, ` … and ${plural(cut, "more character")} that are not in this report`) : null;
  const size = text.length;
  if (size <= LONG) return el("span", {}, marked((before ? "…" : "") + text, wanted), rest);
  const piece = excerpt((before ? "…" : "") + text, wanted, LONG);
  let shown = marked(piece, wanted);
  const button = el("button", { type: "button", class: "link", "aria-expanded": "false" }, `Show all ${count(size)} characters`);
  const place = el("span", {}, shown, " ", button);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "false";
    const next = marked(open ? text : piece, wanted);
    shown.replaceWith(next);
    shown = next;
    button.textContent = open ? "Show less" : `Show all ${count(size)} characters`;
    button.setAttribute("aria-expanded", String(open));
    if (rest) open ? shown.after(rest) : rest.remove();
  });
  return place;
}

function shortText(value, length, wanted) {
  if (value === null || value === undefined) return el("span", { class: "muted", "aria-label": "missing" }, "–");
  if (typeof value === "number") return el("span", { class: "number" }, number(value, 6));
  const [text, after, before] = textOf(value);
  return marked(excerpt((before ? "…" : "") + text + (after ? "…" : ""), wanted, length), wanted);
}
