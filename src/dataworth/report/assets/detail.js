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

/* Why a point is suspect, in a word each; the sentence is in the details. */
const flags = (row) => row.f.map(([word, why]) => el("span", { class: "flag", title: why }, data(word)));

/* The reason in one line: which labels are near the point or, if nobody is, which points it hurts. */
function reason(row) {
  if (!row.h) return row.f.length ? null : el("span", { class: "muted" }, "not explained");
  if (report.numeric) {
    const shown = row.n.length ? row.n : row.h;
    if (saysOther(row)) return el("span", { class: "reason" }, `${quantity(Number(row.y))} against ${quantity(Number(row.s))}`);
    return el("span", { class: "reason" }, shown.length ? el("span", { class: "muted" }, row.n.length ? "near " : "hurts ") : null, numbersOf(shown.slice(0, 3)));
  }
  const labels = tallied((row.n.length ? row.n : row.h).map((one) => one[1]));
  return el("span", { class: "reason" }, labels.length ? el("span", { class: "muted" }, row.n.length ? "near " : "hurts ") : null,
    labels.slice(0, 2).map(([label, n]) => el("span", { class: "times" }, `${n} × `, chip(label, row))),
    labels.length > 2 ? el("span", { class: "muted" }, "and others") : null);
}
const saysOther = (row) => row.s !== row.y && isNumber(String(row.s));
const numbersOf = (lines) => lines.map((one) => quantity(Number(one[1]))).join("; ");

function sentence(row) {
  const words = [];
  if (near(row).length && !report.numeric) {
    const total = row.n.reduce((sum, n) => sum + n[3], 0);
    const against = row.n.filter((n) => n[1] !== row.y);
    const weight = against.reduce((sum, n) => sum + n[3], 0);
    words.push(against.length
      ? `${count(against.length)} of its ${plural(row.n.length, "nearest neighbour")} ${against.length === 1 ? "has" : "have"} another label${total ? `, with ${percent(weight, total)} of their weight` : ""}.`
      : `All of its ${plural(row.n.length, "nearest neighbour")} have the same label${proposal(row) ? ", but others vote on it too" : ": its label may be right, and the point may still mislead predictions for other points"}.`);
  }
  if (report.numeric && row.h && saysOther(row)) words.push(`Its target is ${quantity(Number(row.y))}; the others say ${quantity(Number(row.s))}.`);
  words.push(...row.f.map(([, why]) => why));
  if (row.b) words.push(`The exact value is between ${number(row.b[0])} and ${number(row.b[1])} for certain.`);
  if (!row.h) words.push("No explanation was computed for this point.");
  return el("p", { class: "sentence" }, words.join(" "));
}

/* Whether a neighbour's entry differs from the point's. Numbers must differ by more than the middle half of the
   column spans; of long texts the words are marked instead. Validation points may come without a column. */
function differs(k, own, other, judges) {
  const missing = (x) => x === null || x === undefined;
  if (missing(own) || missing(other)) return missing(own) !== missing(other) && !(judges && missing(other));
  if (typeof own === "number" && typeof other === "number") return Math.abs(own - other) > (report.columns[k].spread || 0);
  return !isLong[k] && textOf(own)[0] !== textOf(other)[0];
}

/* The point beside its neighbours and beside those it hurts: one column for each, one line for each column of the data. */
function comparison(row) {
  const others = [
    ...(row.n || []).map(([at, label, distance, weight], k) => ({ at, label, distance, weight, first: k === 0, record: report.train[at] })),
    ...(row.h || []).map(([at, label, adds], k) => ({ at, label, adds, first: k === 0, record: report.judges[at] })),
  ].map((one) => ({ ...one, record: one.record || { c: [] } }));
  const line = (head, own, of, kind) => el("tr", {}, el("th", { scope: "row" }, head), el("td", { class: "own" }, own),
    others.map((one) => el("td", { class: `${one.first ? "first" : ""} ${kind ? kind(one) : ""}` }, of(one))));
  const figure = (key) => (others.some((one) => one[key] !== undefined) ? line(key, null, (one) => (one[key] === undefined ? null : el("span", { class: "number" }, number(one[key])))) : null);
  const entry = (column, k) => {
    const wanted = wantedIn(row, k);
    const own = row.c[k];
    const full = typeof own === "string" || Array.isArray(own) ? longText(own, wanted) : shortText(own, LONG);
    const made = line(data(clip(column.name, 60), { title: clip(column.name, 300) }), full, (one) => (k < one.record.c.length ? shortText(one.record.c[k], 300, wanted) : null),
      (one) => (k < one.record.c.length && differs(k, own, one.record.c[k], one.adds !== undefined) ? "differs" : ""));
    if (isLong[k]) made.classList.add("compared");
    return made;
  };
  const groups = [["", 1], ["this point", 1], [count(near(row).length) + " nearest training points", near(row).length],
    [report.judgedBy === "training" ? "points it hurts most" : "validation points it hurts most", (row.h || []).length]];
  return el("div", { class: "reasons" },
    el("div", { class: "frame small", tabindex: "0", role: "region", "aria-label": "The point beside others" }, el("table", { class: "compare" },
      el("thead", {}, el("tr", {}, el("td", {}), groups.slice(1).filter(([, n]) => n).map(([word, n], k) => el("th", { scope: "colgroup", colspan: n, class: k ? "first" : "" }, word))),
        others.length ? el("tr", {}, el("td", {}), el("th", { scope: "col", class: "who" }, name(row.p, row.id)), others.map((one) => el("th", { scope: "col", class: one.first ? "who first" : "who" }, name(one.at, one.record.id)))) : null),
      el("tbody", {},
        report.hasImages ? line("picture", picture(row.i, "large"), (one) => picture(one.record.i, "large")) : null,
        line(noun, chip(row.y, row), (one) => chip(one.label, row)),
        ["distance", "weight", "adds"].map(figure), report.columns.map(entry)))),
    others.length ? el("p", { class: "muted" }, `Marked are entries that differ from the point's${report.columns.some((one) => one.number) ? " (numbers, where they differ by more than the middle half of the column spans)" : ""}${row.w ? ", and the words that it shares with its neighbours" : ""}.`) : null);
}
const near = (row) => row.n || [];

const name = (position, id) => (id === undefined || id === null ? `${position}` : el("span", {}, data(clip(id, 40), { title: id }), el("span", { class: "muted" }, ` at ${position}`)));

const detail = (row) => el("div", { class: "detail" }, sentence(row), comparison(row));
