const LONG = 600;

/* Text that may be long: its first part, and a button that shows the rest. */
function longText(value) {
  const [text, more] = Array.isArray(value) ? value : [String(value), 0];
  const rest = more ? el("span", { class: "muted" }, ` … and ${plural(more, "more character")} that are not in this report`) : null;
  if (text.length <= LONG) return el("span", {}, data(text), rest);
  const shown = data(text.slice(0, LONG) + "…", { class: "data text" });
  const button = el("button", { type: "button", class: "link", "aria-expanded": "false" }, `Show all ${count(text.length)} characters`);
  const place = el("span", {}, shown, " ", button);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "false";
    shown.textContent = open ? text : text.slice(0, LONG) + "…";
    button.textContent = open ? "Show less" : `Show all ${count(text.length)} characters`;
    button.setAttribute("aria-expanded", String(open));
    if (rest) open ? shown.after(rest) : rest.remove();
  });
  return place;
}

function shortText(value, length) {
  if (value === null || value === undefined) return el("span", { class: "muted", "aria-label": "missing" }, "–");
  if (typeof value === "number") return el("span", { class: "number" }, number(value, 6));
  const text = Array.isArray(value) ? value[0] + "…" : value;
  return data(clip(text, length));
}

function chip(label, row) {
  if (label === null || label === undefined) return el("span", { class: "muted" }, "unknown");
  const kind = report.numeric ? "" : label === row.y ? "given" : "against";
  return el("span", { class: `chip ${kind}`, title: clip(label, 300) }, data(report.numeric && isNumber(label) ? quantity(Number(label)) : clip(label, 40)));
}

function tallied(labels) {
  const totals = new Map();
  for (const label of labels) totals.set(label, (totals.get(label) || 0) + 1);
  return [...totals].sort((a, b) => b[1] - a[1]);
}

/* The reason in one line: which labels are near the point, and which points it hurts. */
function reason(row) {
  const odd = (row.f || []).map((word) => el("span", { class: "reason odd" }, data(word)));
  return odd.length ? el("span", {}, odd, row.h ? byNeighbours(row) : null) : byNeighbours(row);
}

function byNeighbours(row) {
  if (!row.h) return el("span", { class: "muted" }, "not explained");
  if (report.numeric) {
    const part = (word, lines) => lines.length ? el("span", { class: "reason" }, el("span", { class: "muted" }, word + " "), numbersOf(lines.slice(0, 3))) : null;
    const against = isNumber(String(row.s)) ? el("span", { class: "reason" }, `${quantity(Number(row.y))} against ${quantity(Number(row.s))}`) : null;
    return el("span", {}, against, part("near it", row.n), against ? null : part("hurts", row.h));
  }
  const part = (word, labels) => labels.length ? el("span", { class: "reason" }, el("span", { class: "muted" }, word + " "),
    tallied(labels).slice(0, 3).map(([label, n]) => el("span", { class: "times" }, `${n} × `, chip(label, row)))) : null;
  return el("span", {}, part("near", row.n.map((n) => n[1])), part("hurts", row.h.map((h) => h[1])));
}
const numbersOf = (lines) => lines.map((one) => quantity(Number(one[1]))).join("; ");

function sentence(row) {
  const words = [];
  if (row.n.length && !report.numeric) {
    const total = row.n.reduce((sum, n) => sum + n[3], 0);
    const against = row.n.filter((n) => n[1] !== row.y);
    const weight = against.reduce((sum, n) => sum + n[3], 0);
    words.push(against.length
      ? `${count(against.length)} of its ${plural(row.n.length, "nearest neighbour")} ${against.length === 1 ? "has" : "have"} another label${total ? `, with ${percent(weight, total)} of their weight` : ""}.`
      : `All of its ${plural(row.n.length, "nearest neighbour")} have the same label: its label may be right, and the point may still mislead predictions for other points.`);
  }
  if (report.numeric && isNumber(String(row.s))) words.push(`Its target is ${quantity(Number(row.y))}; its neighbours say ${quantity(Number(row.s))}.`);
  if (row.h.length) words.push(`It does the most harm to the ${plural(row.h.length, `${report.judgedBy} point`)} below.`);
  return el("p", { class: "sentence" }, words.join(" "));
}

function reasonsTable(title, about, heads, lines, records, row) {
  const compared = report.columns.slice(0, 12);
  const used = compared.map((_, k) => k).filter((k) => lines.some((line) => records[line[0]] && records[line[0]].c[k] !== null && records[line[0]].c[k] !== undefined));
  return el("div", { class: "reasons" }, el("h3", {}, title), el("p", { class: "muted" }, about),
    el("div", { class: "frame small", tabindex: "0", role: "region", "aria-label": title }, el("table", {},
      el("thead", {}, el("tr", {}, report.hasImages ? el("th", { scope: "col" }, "picture") : null, heads.map((head) => el("th", { scope: "col" }, head)),
        used.map((k) => el("th", { scope: "col" }, data(clip(compared[k].name, 30)))))),
      el("tbody", {}, lines.map((line) => {
        const record = records[line[0]] || { c: [] };
        return el("tr", {},
          report.hasImages ? el("td", {}, picture(record.i, "tiny")) : null,
          el("td", { class: record.id === undefined ? "" : "who" }, name(line[0], record.id)), el("td", {}, chip(line[1], row)),
          line.slice(2).map((x) => el("td", { class: "number" }, number(x))),
          used.map((k) => el("td", { class: isLong[k] ? "compared" : "" }, shortText(record.c[k], 300))));
      })))));
}

const name = (position, id) => (id === undefined || id === null ? `${position}` : el("span", {}, data(clip(id, 40)), el("span", { class: "muted" }, ` at ${position}`)));

function detail(row) {
  const facts = el("dl", {}, report.columns.map((column, k) => el("div", {}, el("dt", {}, data(column.name)),
    el("dd", {}, typeof row.c[k] === "string" || Array.isArray(row.c[k]) ? longText(row.c[k]) : shortText(row.c[k], LONG)))));
  const bounds = row.b ? el("p", { class: "muted" }, `The exact value is between ${number(row.b[0])} and ${number(row.b[1])} for certain.`) : null;
  const what = report.numeric ? "target" : "label";
  const why = !row.h ? el("p", { class: "muted" }, "No explanation was computed for this point.") : [
    sentence(row),
    row.n.length ? reasonsTable("Nearest training points", report.numeric ? "Their targets beside its own." : "They outvote it if their labels differ from its own.",
      ["position", what, "distance", "weight"], row.n, report.train, row) : null,
    row.h.length ? reasonsTable(report.judgedBy === "training" ? "Points it hurts most" : "Validation points it hurts most", "Its contribution to each, the worst first.",
      ["position", what, "contribution"], row.h, report.judges, row) : null,
  ];
  return el("div", { class: "detail" },
    el("div", { class: "whole" }, report.hasImages ? picture(row.i, "large") : null,
      report.columns.length ? el("h3", {}, "The point") : null, bounds, facts),
    el("div", { class: "why" }, el("h3", {}, "Why its value is low"), why));
}
