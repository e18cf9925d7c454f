const PAGE = 50;
const SHOWN = 6;
const state = {
  view: report.hasImages ? memory.get("view") || "gallery" : "table",
  sort: report.ranked ? "score" : "value", down: false, search: "", suggestion: "", odd: "", decision: "", groups: report.breakdowns.map(() => ""), page: 0, at: null,
  shown: new Set(report.columns.map((_, k) => k).slice(0, SHOWN)), open: new Set(),
};
const ranks = new Map(report.rows.map((row, k) => [row.p, k]));
const isSuspect = (row) => ranks.get(row.p) < report.nSuspects;
const hasSuggestions = report.rows.some((row) => row.s !== undefined && row.s !== null);
const collator = new Intl.Collator("en", { numeric: true });
const haystacks = new Map();
const isLong = report.columns.map((column, k) => !column.number && report.rows.some((row) => Array.isArray(row.c[k]) || String(row.c[k]).length > 40));

function haystack(row) {
  if (!haystacks.has(row)) {
    const words = [row.p, row.id, row.y, row.s, ...row.f.map(([word]) => word), ...row.c.map((cell) => (Array.isArray(cell) ? cell[0] : cell))];
    haystacks.set(row, words.filter((word) => word !== null && word !== undefined).join("\n").toLowerCase());
  }
  return haystacks.get(row);
}

/* Columns that can be sorted: a key, a heading, what to sort by, and whether it stands before the reasons. Texts to
   read do, and are the first of the columns of the data. */
function fields() {
  const list = [
    { key: "position", early: true, head: report.hasIds ? "Point" : "Position", of: (row) => row.id ?? row.p },
    { key: "value", early: true, head: "Value", of: (row) => row.v, number: true },
    ...(report.ranked ? [{ key: "score", early: true, head: "Score", of: (row) => row.z, number: true }] : []),
    { key: "label", early: true, head: report.numeric ? "Target" : "Label given", of: (row) => row.y },
  ];
  if (hasSuggestions) list.push({ key: "suggested", early: true, head: "Suggested", of: (row) => row.s });
  for (const k of [...state.shown].sort((a, b) => a - b)) {
    const { name: head, number, text } = report.columns[k];
    list.push({ key: `c${k}`, head, of: (row) => (Array.isArray(row.c[k]) ? row.c[k][0] : row.c[k]), column: k, number, early: text });
  }
  return list;
}

function compare(a, b) {
  if (a === null || a === undefined || b === null || b === undefined) return (a === null || a === undefined) - (b === null || b === undefined);
  const flip = state.down ? -1 : 1;
  if (typeof a === "number" && typeof b === "number") return flip * (a - b);
  if (isNumber(String(a)) && isNumber(String(b))) return flip * (Number(a) - Number(b));
  return flip * collator.compare(String(a), String(b));
}

function matching() {
  const words = state.search.trim().toLowerCase();
  const found = report.rows.filter((row) => {
    const decision = marks.has(row.p) ? marks.get(row.p).decision : "none";
    if (state.decision === "open" ? !(marks.has(row.p) && !isComplete(marks.get(row.p))) : state.decision && state.decision !== decision) return false;
    if (state.odd === "cut" && !isSuspect(row)) return false;
    if (state.odd === "odd" && row.f.every(([word]) => word === "label" || word === "target")) return false;
    if (state.suggestion === "differs" && !proposal(row)) return false;
    if (state.suggestion === "agrees" && row.s !== row.y) return false;
    if (state.groups.some((code, k) => code !== "" && row.g[k] !== Number(code))) return false;
    return !words || haystack(row).includes(words);
  });
  const field = fields().find((one) => one.key === state.sort) || fields()[1];
  return found.map((row, k) => [row, k]).sort(([a, i], [b, j]) => compare(field.of(a), field.of(b)) || i - j).map(([row]) => row);
}

let rows = [];

function showTable(keepPage) {
  rows = matching();
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  state.page = keepPage ? Math.min(state.page, pages - 1) : 0;
  const page = rows.slice(state.page * PAGE, (state.page + 1) * PAGE);
  if (!page.some((row) => row.p === state.at)) state.at = page.length ? page[0].p : null;
  const list = fields();
  const table = el("table", { class: `points ${state.view === "gallery" ? "gallery" : ""}`, "aria-label": `The ${report.ranked ? "most suspect" : "least valuable"} points` },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "mark" }, "Decision"), report.hasImages ? el("th", { scope: "col" }, "Picture") : null,
      list.filter((one) => one.early).map(heading), el("th", { scope: "col" }, "Why"), list.filter((one) => !one.early).map(heading))),
    el("tbody", {}, page.flatMap((row, k) => [...cutBefore(state.page * PAGE + k), ...tableRows(row, list)])));
  byId("frame").replaceChildren(page.length ? table : el("p", { class: "empty" }, report.rows.length ? "No point matches. Change the search or the filters." : "There are no points."));
  showPager(pages, page.length);
  showMore();
  byId("found").textContent = rows.length === report.rows.length ? `${plural(rows.length, "point")}` : `${count(rows.length)} of ${plural(report.rows.length, "point")}`;
  byId("all").disabled = !rows.length;
  byId("filters").classList.toggle("with-sort", state.view === "gallery");
}

/* Say that the table goes on to the right, where it does. */
function showMore() {
  const frame = byId("frame");
  frame.classList.toggle("wide", frame.scrollWidth > frame.clientWidth);
  const more = frame.scrollWidth - frame.clientWidth - frame.scrollLeft > 2;
  frame.classList.toggle("more", more);
  byId("sideways").classList.toggle("more", more);
}

/* The line below the rows that the ruler says to look at, where they come first. */
function cutBefore(place) {
  if (report.nSuspects !== report.cutoff || state.sort !== "score" || state.down || !place || !isSuspect(rows[place - 1]) || isSuspect(rows[place])) return [];
  const said = `The ruler’s cut-off: look at the ${plural(report.cutoff, "point")} above this line.`;
  return [el("tr", { class: "cut" }, el("td", { colspan: fields().length + 2 + report.hasImages }, said))];
}

function heading(field) {
  const sorted = state.sort === field.key;
  return el("th", { scope: "col", class: field.number ? "number" : "", "aria-sort": sorted ? (state.down ? "descending" : "ascending") : "none" },
    el("button", { type: "button", class: "sort", title: "Sort", on: { click: () => sortBy(field.key) } },
      data(clip(field.head, 30)), el("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (state.down ? "▼" : "▲") : "↕")));
}

function sortBy(key) {
  state.down = state.sort === key ? !state.down : false;
  state.sort = key;
  byId("sort").value = key;
  showTable();
  const heads = fields().map((one) => one.key);
  const button = byId("frame").querySelectorAll("button.sort")[heads.indexOf(key)];
  if (button) button.focus();
}

function tableRows(row, list) {
  const mark = marks.get(row.p);
  const cell = (head, props, ...inside) => el("td", { "data-head": head, ...props }, ...inside);
  const opener = el("button", { type: "button", class: "link", "aria-expanded": String(state.open.has(row.p)), on: { click: () => toggle(row) } }, state.open.has(row.p) ? "Hide details" : "Details");
  const line = el("tr", { class: `point ${mark ? mark.decision : ""}`, tabindex: row.p === state.at ? "0" : "-1", "data-position": row.p,
    "aria-label": `Point ${row.id ?? row.p}, ${mark ? WORDS[mark.decision] : "not marked"}` },
    cell("Decision", { class: "mark" }, decisionCell(row, mark)),
    report.hasImages ? cell("Picture", { class: "pictured" }, picture(row.i, "small")) : null,
    list.filter((one) => one.early).map((field) => fieldCell(field, row, cell)),
    cell("Why", { class: "because" }, el("div", { class: "why" }, flags(row), reason(row), opener)),
    list.filter((one) => !one.early).map((field) => fieldCell(field, row, cell)));
  line.addEventListener("focus", () => { moveTo(row.p, false); });
  return state.open.has(row.p) ? [line, detailRow(row)] : [line];
}

function fieldCell(field, row, cell) {
  if (field.key === "position") return cell(field.head, { class: "who" }, name(row.p, row.id));
  if (field.key === "value") return cell("Value", { class: "number worth" }, el("span", {}, worth(row.v)));
  if (field.key === "score") return cell("Score", { class: "number score" }, el("span", {}, score(row.z)));
  if (field.key === "label") return cell(field.head, { class: "given" }, chip(row.y, row));
  if (field.key === "suggested") return cell("Suggested", { class: "suggested" }, row.s === row.y ? el("span", { class: "muted" }, "the same") : chip(row.s, row));
  const k = field.column;
  const kind = field.number ? "number" : field.early ? "long text" : isLong[k] ? "long" : "brief";
  const title = kind === "brief" && typeof row.c[k] === "string" ? row.c[k] : null;
  return cell(clip(field.head, 30), { class: `column ${kind}`, title }, shortText(row.c[k], field.early ? 160 : 120, wantedIn(row, k)));
}

const detailRow = (row) => el("tr", { class: "details" }, el("td", { colspan: fields().length + 2 + report.hasImages }, detail(row)));

function decisionCell(row, mark) {
  const buttons = KINDS.map((kind, k) => el("button", { type: "button", class: `kind ${kind}`, "aria-pressed": String(Boolean(mark) && mark.decision === kind), title: `${WORDS[kind]} (${k + 1})`,
    on: { click: () => markRow(row, kind) } }, WORDS[kind]));
  const group = el("div", { class: "kinds", role: "group", "aria-label": `Decision for point ${row.id ?? row.p}` }, buttons);
  return mark && mark.decision === "relabel" ? el("div", {}, group, newLabel(row, mark)) : group;
}

function newLabel(row, mark) {
  const field = report.numeric
    ? el("input", { type: "text", inputmode: "decimal", class: "new", value: mark.label, placeholder: saysOther(row) ? `suggested: ${quantity(Number(row.s))}` : "new target", "aria-describedby": `wrong-${row.p}` })
    : el("select", { class: "new" }, el("option", { value: "" }, "choose a label"),
      report.classes.filter((one) => one !== row.y && one !== "").map((one) => el("option", { value: one, selected: one === mark.label }, clip(one, 60) + (one === row.s ? " (suggested)" : ""))));
  field.setAttribute("aria-label", `New ${noun}`);
  const wrong = el("span", { class: "wrong", id: `wrong-${row.p}` });
  const check = ({ label }) => {
    const isWrong = report.numeric && label !== "" && !isNumber(label);
    field.classList.toggle("open", label === "" || isWrong);
    field.setAttribute("aria-invalid", String(isWrong));
    wrong.textContent = isWrong ? "not a number" : "";
  };
  check(mark);
  field.addEventListener("input", () => {
    setMark(row, "relabel", report.numeric ? plainNumber(field.value) : field.value.trim() && field.value);
    check(marks.get(row.p));
  });
  if (report.numeric) field.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === "Escape") moveTo(row.p); });
  return el("div", { class: "becomes" }, field, wrong);
}

function lineOf(position) {
  return byId("frame").querySelector(`tr.point[data-position="${position}"]`);
}

/* Redraw one row and leave the others, so that a filter does not take a row away as soon as it is marked. */
function redraw(row, focus) {
  const old = lineOf(row.p);
  if (!old) return;
  if (old.nextElementSibling && old.nextElementSibling.className === "details") old.nextElementSibling.remove();
  const fresh = tableRows(row, fields());
  old.replaceWith(...fresh);
  const target = focus ? fresh[0].querySelector(focus) || fresh[0] : fresh[0];
  target.focus({ preventScroll: true });
}

function markRow(row, kind, fromRow) {
  const same = marks.has(row.p) && marks.get(row.p).decision === kind;
  setMark(row, same ? null : kind);
  state.at = row.p;
  redraw(row, report.numeric && kind === "relabel" && !same ? "input.new" : fromRow ? null : `button.${kind}`);
}

function toggle(row) {
  state.open.has(row.p) ? state.open.delete(row.p) : state.open.add(row.p);
  state.at = row.p;
  redraw(row, "td.because button");
}

function moveTo(position, focus = true) {
  const old = lineOf(state.at);
  if (old) old.tabIndex = -1;
  state.at = position;
  const line = lineOf(position);
  if (!line) return;
  line.tabIndex = 0;
  if (focus) { line.focus({ preventScroll: true }); line.scrollIntoView({ block: "nearest" }); }
}

function step(by) {
  const next = rows.findIndex((row) => row.p === state.at) + by;
  if (next < 0 || next >= rows.length) return;
  const page = Math.floor(next / PAGE);
  if (page !== state.page) {
    state.page = page;
    showTable(true);
  }
  moveTo(rows[next].p);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const line = event.target.closest("tr.point");
  const row = line && rows.find((one) => one.p === Number(line.dataset.position));
  if (!row) return;
  const onRow = event.target === line;
  const kind = { 1: "keep", 2: "relabel", 3: "remove", r: "relabel", x: "remove" }[event.key];
  const sideways = state.view === "gallery" ? { ArrowRight: 1, ArrowLeft: -1 }[event.key] : 0;
  if (event.key === "ArrowDown" || event.key === "j") step(1);
  else if (event.key === "ArrowUp" || event.key === "k") step(-1);
  else if (sideways) step(sideways);
  else if (kind) markRow(row, kind, onRow);
  else if (onRow && event.key === "Enter") toggle(row);
  else return;
  event.preventDefault();
}

function showPager(pages, size) {
  const go = (page, word, byKey) => {
    state.page = page;
    showTable(true);
    byId("points").scrollIntoView();
    const again = [...byId("pager").querySelectorAll("button:enabled")].find((one) => one.textContent === word);
    (byKey && again ? again : lineOf(state.at)).focus({ preventScroll: true });
  };
  const button = (word, page, off) => el("button", { type: "button", class: "quiet", disabled: off, on: { click: (event) => go(page, word, event.detail === 0) } }, word);
  const from = state.page * PAGE + 1;
  byId("pager").replaceChildren(...(pages < 2 ? [] : [button("← Previous", state.page - 1, state.page === 0),
    el("span", { class: "muted" }, `${count(from)}–${count(from + size - 1)} of ${count(rows.length)}`),
    button("Next →", state.page + 1, state.page === pages - 1)]));
}
