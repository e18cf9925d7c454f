const menu = (id, word, options, change) => el("label", { class: "field" }, el("span", {}, word),
  el("select", { id, on: { change: (event) => { change(event.target.value); } } }, options.map(([value, text]) => el("option", { value }, text))));

function showFilters() {
  const search = el("input", { type: "search", id: "search", placeholder: `any text, ${noun}, id or position`, autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => { state.search = search.value; showTable(); });
  const filter = (set) => (value) => { set(value); showTable(); };
  const places = [
    el("label", { class: "field grow" }, el("span", {}, "Search"), search),
    ...report.breakdowns.map((one, k) => menu(`group-${k}`, clip(one.name, 30), [["", "all"], ...one.groups.map((group, code) => [code, clip(group[0], 40)])], filter((value) => { state.groups[k] = value; }))),
    hasSuggestions && !report.numeric ? menu("suggestion", "suggested", [["", "anything"], ["differs", "another label"], ["agrees", "the same label"]], filter((value) => { state.suggestion = value; })) : null,
    report.noticed || report.nSuspects ? menu("odd", "show", [["", "all points"], report.nSuspects ? ["cut", `${report.nSuspects < report.cutoff ? `${count(report.nSuspects)} of ${count(report.cutoff)} ` : ""}up to the ruler’s cut-off`] : null, report.noticed ? ["odd", "copies and outliers"] : null].filter(Boolean), filter((value) => { state.odd = value; })) : null,
    menu("decision", "decision", [["", "any"], ["none", "not marked"], ...KINDS.map((kind) => [kind, kind]), ["open", `new ${noun} missing`]], filter((value) => { state.decision = value; })),
    report.hasImages ? menu("view", "view", [["gallery", "gallery"], ["table", "table"]], (value) => { state.view = value; memory.set("view", value); showTable(true); }) : null,
    menu("sort", "sort by", [], (value) => { state.sort = value; state.down = false; showTable(); }),
    report.columns.length ? columnMenu() : null,
    menu("all", "mark all found as", [["", "…"], ["keep", "keep"], hasSuggestions && !report.numeric ? ["relabel", "relabel as suggested"] : null, ["remove", "remove"], ["none", "not marked"]].filter(Boolean), markAll),
    el("span", { id: "found", class: "found", role: "status" }),
  ];
  byId("filters").append(...places.filter(Boolean));
  if (report.hasImages) byId("view").value = state.view;
  fillSort();
}

function fillSort() {
  byId("sort").replaceChildren(...fields().map((field) => el("option", { value: field.key }, clip(field.head, 40))));
  byId("sort").value = fields().some((field) => field.key === state.sort) ? state.sort : "value";
}

function columnMenu() {
  const box = el("details", { class: "field choose" }, el("summary", {}, "Columns"),
    el("div", { class: "choices" }, report.columns.map((column, k) => el("label", {}, el("input", { type: "checkbox", checked: state.shown.has(k), on: { change: (event) => {
      event.target.checked ? state.shown.add(k) : state.shown.delete(k);
      fillSort();
      showTable(true);
    } } }), data(clip(column.name, 40))))));
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) box.open = false; });
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { box.open = false; box.firstChild.focus(); } });
  return box;
}

function markAll(kind) {
  byId("all").value = "";
  if (!kind) return;
  const chosen = kind === "none" ? rows.filter((row) => marks.has(row.p))
    : rows.filter((row) => !marks.has(row.p) && (kind !== "relabel" || proposal(row)));
  const what = kind === "none" ? "Take the marks off" : kind === "relabel" ? "Relabel as suggested:" : `${WORDS[kind]}:`;
  if (!chosen.length) return tell("Nothing to mark: every point found is marked already, or has no other label suggested.");
  if (!confirm(`${what} ${plural(chosen.length, "point")}${kind === "none" ? "" : " not yet marked"} of the ${count(rows.length)} found?`)) return;
  for (const row of chosen) setMark(row, kind === "none" ? null : kind);
  showTable(true);
}

function setFilters(changes) {
  state.search = ""; state.suggestion = ""; state.odd = ""; state.decision = "";
  state.groups.fill("");
  byId("search").value = "";
  for (const menu of byId("filters").querySelectorAll("select")) if (menu.id !== "sort" && menu.id !== "view") menu.value = "";
  changes();
  showTable();
  byId("points").scrollIntoView();
}

const showGroup = (position, code) => setFilters(() => { state.groups[position] = String(code); byId(`group-${position}`).value = String(code); });
const showOpen = () => setFilters(() => { state.decision = "open"; byId("decision").value = "open"; });

/* Which points the table leaves out so that a rare label does not fill it. */
const leftOut = () => (report.cutoff
  ? `All ${plural(report.cutoff, "point")} up to the ruler’s cut-off are listed; below it, points of a label that has three times its share of the table are left out. `
  : "No label has more than three times its share of the table, so some points of a rare label are left out. ");

function showWords() {
  const judges = report.judgedBy === "training" ? "each judged by the others" : `judged by ${plural(report.nValidation, "validation point")}`;
  byId("lead").textContent = `${plural(report.n, "training point")}, ${judges}. ${report.ranked ? "The most suspect" : "Low values"} come first: look there for wrong ${noun}s.${report.noticed ? ` ${report.noticed}` : ""}`;
  if (report.headline !== null) {
    byId("headline").hidden = false;
    byId("headline").textContent = report.headline;
  }
  byId("one-sided").hidden = !report.oneSided;
  byId("one-sided").textContent = report.oneSided;
  const first = report.ranked ? "most suspect" : "least valuable";
  const differing = report.rows.filter((row) => proposal(row)).length;
  const all = report.rows.length === report.n;
  byId("points-title").textContent = all ? `All points, the ${first} first` : `The ${count(report.rows.length - report.nNoticed)} ${first} points${report.nNoticed ? `, and ${count(report.nNoticed)} that are copies or outliers` : ""}`;
  const listed = count(report.rows.length);
  byId("points-lead").textContent = `${all ? "" : `The table has ${listed} of ${count(report.n)} points; the charts count all of them. `}${report.quota ? leftOut() : ""}${
    hasSuggestions && !report.numeric ? `Another label is suggested for ${count(differing)} of these ${listed}. ` : ""}${report.unit ? `Values are shares${report.unit}. ` : ""}Work down the list, mark what you are sure of, and download your decisions. ${memory.set("memory", true) ? "Marks stay in this browser until you clear them." : "This browser does not keep marks: download before you close the page."}`;
  byId("keys").append("Keys, in the table: ", ...[[report.hasImages ? "↑ ↓ ← →" : "↑ ↓", "or"], ["j k", "move,"], ["1", "keep,"], ["2", "relabel,"], ["3", "remove (again: undo),"], ["Enter", "details"]].flatMap(([key, word]) => [el("kbd", {}, key), ` ${word} `]));
  byId("sideways").textContent = "More columns to the right →";
}

function showAbout() {
  const meaning = report.numeric ? "Points with a positive value bring predictions on validation points nearer to their targets; points with a negative value move them away. Values are shares" + report.unit + ": together they say how much of it neighbours explain."
    : "A value is what a point adds to the predictions on the validation points, on average over all the sets it could join.";
  byId("about").append(
    el("p", {}, `${meaning} The order counts most: do not use 0 as a threshold, and look before you remove. The point can also be a rare but correct example, or a validation ${noun} can be wrong.`),
    report.ranked ? el("p", {}, `The score that ranks suspects is no Shapley value: it adds up, in standard deviations, the value of a point and how far the others agree with its ${noun}. Lower is more suspect.`) : "",
    report.bounded ? el("p", {}, "These values are not exact; the details of each point show the bounds that hold its exact value.") : "",
    ...report.notes.map((note) => el("p", { class: "muted" }, note)),
    el("details", {}, el("summary", {}, "How they were computed"), el("dl", { class: "params" },
      [["dataworth", report.version], ["validation points", count(report.nValidation)], ["values", `${number(report.range[0])} to ${number(report.range[1])}`],
        ["below 0", `${count(report.negative)} of ${count(report.n)}, ${percent(report.negative, report.n)}`], ["sum of values", number(report.sum)], ...report.params].map(([key, value]) => el("div", {}, el("dt", {}, data(key)), el("dd", {}, data(clip(value, 300))))))));
}

function theme(choice) {
  const dark = choice ? choice === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "☀ Light" : "☾ Dark";
  drawCharts();
}

function start() {
  loadMarks();
  showWords();
  PANELS.forEach((draw) => draw());
  arrange();
  showFilters();
  byId("finding").open = !matchMedia("(max-width: 720px)").matches;
  showTable();
  showCount();
  showAbout();
  theme(memory.get("theme"));
  byId("overview").addEventListener("toggle", drawCharts);
  byId("theme").addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    memory.set("theme", next);
    theme(next);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(memory.get("theme")));
  addEventListener("beforeprint", () => theme("light"));
  addEventListener("afterprint", () => theme(memory.get("theme")));
  byId("download").addEventListener("click", download);
  byId("clear").addEventListener("click", clearMarks);
  byId("frame").addEventListener("keydown", keys);
  byId("frame").addEventListener("scroll", showMore);
  addEventListener("resize", showMore);
  new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${byId("bar").offsetHeight}px`)).observe(byId("bar"));
  document.documentElement.dataset.ready = "yes";
}
start();
