const KINDS = ["keep", "relabel", "remove"];
const WORDS = { keep: "Keep", relabel: "Relabel", remove: "Remove" };
const marks = new Map();

function loadMarks() {
  const kept = memory.get("marks:" + report.key);
  const known = new Set(report.rows.map((row) => row.p));
  for (const [position, mark] of Array.isArray(kept) ? kept : []) {
    if (known.has(position) && KINDS.includes(mark.decision)) {
      marks.set(position, { decision: mark.decision, label: typeof mark.label === "string" ? mark.label : "" });
    }
  }
}

/* The label that relabelling starts from: the suggestion, if it differs from the label given. What neighbours
   say about a number is near the truth at best, so nothing is filled in. */
const proposal = (row) => (!report.numeric && row.s !== undefined && row.s !== null && row.s !== row.y ? row.s : "");

const isNumber = (text) => /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$/.test(text);
/* A number as people type it or the page writes it, 16,890 or −2.5, as `isNumber` knows it; other text stays. */
const plainNumber = (text) => {
  const plain = text.trim().replaceAll("−", "-");
  return /^[+-]?[1-9][0-9]{0,2}([,\s])[0-9]{3}(\1[0-9]{3})*(\.[0-9]*)?$/.test(plain) ? plain.replace(/[,\s]/g, "") : plain;
};
const isComplete = (mark) => mark.decision !== "relabel" || (report.numeric ? isNumber(mark.label) : mark.label !== "");

function setMark(row, decision, label) {
  if (decision === null) marks.delete(row.p);
  else marks.set(row.p, { decision, label: decision === "relabel" ? label ?? proposal(row) : "" });
  memory.set("marks:" + report.key, [...marks]);
  showCount();
}

function showCount() {
  const totals = { keep: 0, relabel: 0, remove: 0 };
  let open = 0;
  for (const mark of marks.values()) {
    totals[mark.decision] += 1;
    open += !isComplete(mark);
  }
  byId("count").replaceChildren(
    el("strong", {}, `${count(marks.size)} of ${count(report.rows.length)} marked`),
    ...KINDS.map((kind) => el("span", { class: `tally ${kind}` }, `${count(totals[kind])} ${kind}`)),
    open ? el("span", { class: "tally open" }, `${plural(open, `new ${noun}`)} missing`) : "",
  );
  byId("download").disabled = !marks.size;
  byId("clear").disabled = !marks.size;
}

/* Put an apostrophe wherever a spreadsheet could begin to read a formula; `decisions.read` removes
   it again. A plain number is not a formula. */
const guard = (text) => (isNumber(text) ? text : text.replace(/(?<=^|[;,\t\n\r])(?=[ \t\r\n'"]*[=+\-@\t\r\n＝＋－＠])/g, "'"));
const quoted = (text) => `"${guard(text).replaceAll('"', '""')}"`;

function decisionsFile() {
  const lines = [["position", "decision", "new_label", "label", "id", "label_column", "id_column", "data"]];
  for (const row of [...report.rows].sort((a, b) => a.p - b.p)) {
    const mark = marks.get(row.p);
    if (mark) lines.push([String(row.p), mark.decision, mark.label, row.y, row.id ?? "", report.labelColumn, report.idColumn, report.data]);
  }
  return "\ufeff" + lines.map((line) => line.map(quoted).join(",") + "\r\n").join("");
}

function download() {
  const open = report.rows.filter((row) => marks.has(row.p) && !isComplete(marks.get(row.p)));
  if (open.length) {
    showOpen();
    tell(`Choose a new ${noun} for ${plural(open.length, "point")} first, or mark ${open.length === 1 ? "it" : "them"} differently.`);
    return;
  }
  const address = URL.createObjectURL(new Blob([decisionsFile()], { type: "text/csv;charset=utf-8" }));
  el("a", { href: address, download: "decisions.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  tell("Saved as decisions.csv. Move it to the folder that you work in, and write the cleaned data: ", el("code", {}, report.command));

}

function tell(...words) {
  byId("next").hidden = false;
  byId("next").replaceChildren(...words);
}

function clearMarks() {
  if (!confirm(`Clear all ${plural(marks.size, "mark")}?`)) return;
  marks.clear();
  memory.set("marks:" + report.key, []);
  byId("next").hidden = true;
  showCount();
  showTable();
}
