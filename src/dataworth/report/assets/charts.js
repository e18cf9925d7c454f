const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let nColours = 0;
while (css(`--class-${nColours}`)) nColours += 1;
/* One colour per class; the classes that are left over share the last one. */
const palette = (n) => Array.from({ length: n }, (_, k) => css(k < nColours ? `--class-${k}` : "--other"));
const charts = [];

/* A card with a heading, a chart, and the same numbers as a table for people who cannot see the chart. */
function card(title, text, height, wide, draw, table, section = "charts") {
  const canvas = el("canvas", { role: "img", "aria-label": `${title}. ${text}` });
  const box = el("div", { class: "canvas" }, canvas);
  box.style.height = `${height}px`;
  const numbers = el("details", { class: "numbers" }, el("summary", {}, "Show the numbers"));
  numbers.addEventListener("toggle", () => {
    if (numbers.open && numbers.children.length === 1) numbers.append(numbersTable(...table()));
  });
  const place = el("div", { class: wide ? "card wide" : "card" }, el("h3", {}, title), el("p", { class: "muted" }, text));
  charts.push({ canvas, draw, chart: null, legend: place.appendChild(el("div", { class: "legend" })) });
  place.append(box, numbers);
  byId(section).append(place);
}

/* At most three cards in a row, and about as many in every row. */
function arrange() {
  const small = byId("charts").querySelectorAll(".card:not(.wide)");
  const inRows = Math.ceil(small.length / 3);
  const full = small.length - inRows * Math.floor(small.length / inRows);
  let k = 0;
  for (let row = 0; row < inRows; row++) {
    const size = Math.floor(small.length / inRows) + (row < full ? 1 : 0);
    for (let place = 0; place < size; place++) small[k++].classList.add(`of-${size}`);
  }
}

function numbersTable(heads, lines) {
  return el("div", { class: "frame small" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, lines.map((line) => el("tr", {}, line.map((cell, k) => (k ? el("td", {}, cell) : el("th", { scope: "row" }, data(cell)))))))));
}

function drawCharts() {
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.color = css("--muted");
  Chart.defaults.borderColor = css("--grid");
  Chart.defaults.font.family = css("--font");
  Chart.defaults.font.size = 12;
  Object.assign(Chart.defaults.plugins.tooltip, {
    backgroundColor: css("--tip"), titleColor: css("--tip-text"), bodyColor: css("--tip-text"),
    padding: 10, cornerRadius: 6, boxPadding: 4, displayColors: true,
  });
  Chart.defaults.plugins.legend.display = false;
  for (const item of charts) {
    if (item.chart) item.chart.destroy();
    item.chart = null;
    if (item.canvas.closest("details.fold:not([open])")) continue; // it has no size until it is unfolded
    item.chart = new Chart(item.canvas, item.draw());
    legend(item);
  }
}

function legend({ chart, legend: place }) {
  place.replaceChildren();
  if (chart.data.datasets.filter((set) => set.label !== undefined).length < 2) return;
  chart.data.datasets.forEach((set, k) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = set.backgroundColor;
    const button = el("button", { type: "button", class: "key", "aria-pressed": "true", title: "Show or hide" }, swatch, data(clip(set.label, 30)));
    button.addEventListener("click", () => {
      const shown = !chart.isDatasetVisible(k);
      chart.setDatasetVisibility(k, shown);
      chart.update();
      button.setAttribute("aria-pressed", String(shown));
    });
    place.append(button);
  });
}

/* A dashed line across the chart, with a word on it. */
const line = (axis, at, word) => ({
  id: `line-${axis}`,
  afterDatasetsDraw({ ctx, chartArea, scales }) {
    const pixel = scales[axis].getPixelForValue(at);
    ctx.save();
    ctx.strokeStyle = css("--text");
    ctx.fillStyle = css("--muted");
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(pixel, chartArea.top);
    ctx.lineTo(pixel, chartArea.bottom);
    ctx.stroke();
    ctx.font = `12px ${css("--font")}`;
    const onLeft = pixel > (chartArea.left + chartArea.right) / 2;
    ctx.textAlign = onLeft ? "right" : "left";
    if (word) ctx.fillText(word, pixel + (onLeft ? -6 : 6), chartArea.bottom - 12);
    ctx.restore();
  },
});

function histogramCard() {
  const { edges, series, below, above } = report.histogram;
  const last = edges.length - 2;
  const range = (k) => {
    if (k === 0 && below) return `below ${number(edges[1])}`;
    if (k === last && above) return `${number(edges[k])} and above`;
    return `${number(edges[k])} to ${number(edges[k + 1])}`;
  };
  const steps = edges.slice(1).map((_, k) => k);
  const what = report.numeric ? "target" : "label";
  const tails = below || above ? " The outermost bars include everything beyond them." : "";
  card(`Values by ${what}`, `How many points have which value; the dashed line is at 0.${tails}`, 300, true, () => {
    const colours = palette(series.length);
    return {
      type: "bar",
      data: {
        datasets: series.map((one, k) => ({
          label: one.name, data: one.counts.map((y, step) => ({ x: (edges[step] + edges[step + 1]) / 2, y })),
          backgroundColor: colours[k], stack: "all", barPercentage: 1, categoryPercentage: 0.94,
        })),
      },
      options: {
        interaction: { mode: "index", intersect: false },
        scales: {
          x: { type: "linear", stacked: true, offset: false, min: edges[0], max: edges[last + 1], grid: { display: false, offset: false },
            title: { display: true, text: `value${report.unit && ", as a share" + report.unit}` }, ticks: { maxRotation: 0, autoSkipPadding: 24, includeBounds: false, callback: (x) => number(x) } },
          y: { stacked: true, beginAtZero: true, title: { display: true, text: "points" }, ticks: { precision: 0 } },
        },
        plugins: {
          tooltip: { filter: (item) => item.raw.y > 0, callbacks: {
            title: (items) => (items.length ? `value ${range(items[0].dataIndex)}` : ""),
            label: (item) => ` ${clip(item.dataset.label, 40)}: ${count(item.raw.y)}` } },
        },
      },
      plugins: edges[0] <= 0 && edges[last + 1] >= 0 ? [line("x", 0, "")] : [],
    };
  }, () => [["value", ...series.map((one) => one.name)], steps.map((k) => [range(k), ...series.map((one) => count(one.counts[k]))])]);
}

function curveCard() {
  const { sizes, sums } = report.curve;
  const shapley = report.semivalue === "shapley";
  const text = `Values added up, the most valuable point first.${
    shapley ? " The curve ends at what all points together achieve, compared with none." : ""}`;
  card("Cumulative value", text, 300, true, () => ({
    type: "line",
    data: { datasets: [{
      label: "sum", data: sizes.map((x, k) => ({ x, y: sums[k] })), borderColor: css("--accent"), backgroundColor: css("--accent-soft"),
      fill: "origin", borderWidth: 2, pointRadius: 0, pointHitRadius: 8,
    }] },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: { type: "linear", min: 0, max: report.n, title: { display: true, text: "points, the most valuable first" }, grid: { display: false },
          ticks: { maxRotation: 0, autoSkipPadding: 24, callback: (x) => count(x) } },
        y: { title: { display: true, text: "sum of their values" }, ticks: { callback: (y) => number(y) } },
      },
      plugins: { tooltip: { displayColors: false, callbacks: {
        title: (items) => `the best ${plural(items[0].parsed.x, "point")}`,
        label: (item) => `sum ${number(item.parsed.y, 4)}` } } },
    },
  }), () => [["points", "sum of values"], sizes.map((x, k) => [count(x), number(sums[k], 6)])]);
}

const rowHeight = 30;

function spreadCard({ name, groups }, position) {
  const what = clip(name, 60);
  card(`Values by ${what}, from low to high`, "The thin bar holds the middle 90 % of the points, the thick one the middle half; the dot is the median. Choose a bar to see its points in the table.", groups.length * rowHeight + 50, false, () => {
    const bars = (low, high, colour, thickness) => ({
      data: groups.map((one) => [one[4][low], one[4][high]]), backgroundColor: colour, barThickness: thickness, grouped: false, minBarLength: 2,
    });
    return {
      type: "bar",
      data: { labels: groups.map((one) => one[0]), datasets: [
        { type: "scatter", data: groups.map((one, k) => ({ x: one[4][2], y: k })), backgroundColor: css("--text"), pointRadius: 4, pointHoverRadius: 4 },
        bars(1, 3, css("--accent"), 14), bars(0, 4, css("--accent-mid"), 4),
      ] },
      options: {
        indexAxis: "y",
        interaction: { mode: "index", axis: "y", intersect: false },
        ...choosing(position, (k) => k),
        scales: { x: { ticks: { maxRotation: 0, autoSkipPadding: 16, callback: (x) => number(x) }, title: { display: true, text: `value${report.unit && ", as a share" + report.unit}` } }, y: names() },
        plugins: { tooltip: { displayColors: false, filter: (item) => item.datasetIndex === 1, callbacks: {
          title: (items) => clip(groups[items[0].dataIndex][0], 60),
          label: (item) => {
            const [, n, , mean, q] = groups[item.dataIndex];
            return [plural(n, "point"), `middle 90 %: ${number(q[0])} to ${number(q[4])}`, `middle half: ${number(q[1])} to ${number(q[3])}`, `median ${number(q[2])}, mean ${number(mean)}`];
          } } } },
      },
      plugins: [line("x", 0, "")],
    };
  }, () => [[what, "points", "5 %", "25 %", "median", "75 %", "95 %", "mean"],
    groups.map(([name, n, , mean, q]) => [name, count(n), ...q.map((x) => number(x)), number(mean)])]);
}

function names(below) {
  return { grid: { display: false }, ticks: { autoSkip: false, callback(k) {
    const name = clip(this.getLabelForValue(k), window.innerWidth < 600 ? 14 : 22);
    return below ? [name, below(k)] : name;
  } } };
}

/* A click on a bar shows its group in the table. */
const choosing = (position, codeOf) => ({
  onClick: (_, items) => { if (items.length) showGroup(position, codeOf(items[0].index)); },
  onHover: (event, items) => { event.native.target.style.cursor = items.length ? "pointer" : "default"; },
});

/* Words at the ends of bars. */
const wordsAtBars = (wordOf) => ({ id: "words", afterDatasetsDraw(chart) {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.font = `12px ${css("--font")}`;
  ctx.textBaseline = "middle";
  chart.getDatasetMeta(0).data.forEach((bar, k) => {
    const word = wordOf(k);
    const wide = ctx.measureText(word).width;
    ctx.fillStyle = css("--surface");
    const x = Math.min(Math.max(bar.x, bar.base) + 6, chartArea.right - wide);
    ctx.fillRect(x - 2, bar.y - 8, wide + 4, 16);
    ctx.fillStyle = css("--text");
    ctx.fillText(word, x, bar.y);
  });
  ctx.restore();
} });

/* How many points of each group are low for their label, the group with most first; bins stay in their order. */
function lowCard(breakdown, position) {
  const order = breakdown.groups.map((_, k) => k);
  const rate = (k) => breakdown.groups[k][2] / breakdown.groups[k][1];
  if (!breakdown.binned) order.sort((a, b) => rate(b) - rate(a) || a - b);
  const groups = order.map((k) => breakdown.groups[k]);
  const overall = report.low / report.n;
  const most = Math.min(1, Math.max(...order.map(rate), overall) * 1.45 || 1);
  const chance = (n) => 3 * Math.sqrt((overall * (1 - overall)) / n);
  const stands = groups.map((one) => one[2] / one[1] > overall + chance(one[1]));
  const what = report.numeric ? "points with targets like theirs" : "points of their label";
  const text = `How many points of each group are among the lowest tenth of the ${what}; the dashed line is ${percent(report.low, report.n)}, that of all points. ${
    stands.some(Boolean) ? "Dark bars are above it by more than chance explains" : "No bar is above it by more than chance explains"}. Choose a bar to see its points in the table.`;
  card(`Low values by ${clip(breakdown.name, 60)}`, text, groups.length * rowHeight + 50, false, () => ({
    type: "bar",
    data: { labels: groups.map((one) => one[0]), datasets: [{
      data: groups.map((one) => one[2] / one[1]), barThickness: 18, borderRadius: 3, minBarLength: 2,
      backgroundColor: stands.map((high) => css(high ? "--accent" : "--accent-mid")),
    }] },
    options: {
      indexAxis: "y",
      interaction: { mode: "nearest", axis: "y", intersect: false },
      ...choosing(position, (k) => order[k]),
      scales: { x: { min: 0, max: most, ticks: { includeBounds: false, maxRotation: 0, autoSkipPadding: 16, callback: (x) => `${Number((100 * x).toPrecision(3))} %` } }, y: names() },
      plugins: { tooltip: { displayColors: false, callbacks: {
        title: (items) => clip(groups[items[0].dataIndex][0], 60),
        label: (item) => {
          const [, n, low, mean] = groups[item.dataIndex];
          return [`${count(low)} of ${plural(n, "point")} low, ${percent(low, n)}`, `mean value ${number(mean)}`];
        } } } },
    },
    plugins: [line("x", overall, ""), wordsAtBars((k) => `${percent(groups[k][2], groups[k][1])} of ${count(groups[k][1])}`)],
  }), () => [[breakdown.name, "points", "low", "of its points", "mean value"],
    groups.map(([name, n, low, mean]) => [name, count(n), count(low), percent(low, n), number(mean)])]);
}

/* What owners are paid or, without a budget, their part of the value, by both rules and with intervals. */
function ownersCard() {
  if (!report.owners) return;
  const { rows: all, amounts, budget, exact, positive } = report.owners;
  const shown = all.slice(0, 30);
  const part = (x) => (x === null ? "–" : `${(100 * x).toFixed(1).replace("-", "−")}\u00a0%`);
  const money = (x) => (x === null ? "–" : x.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }).replace("-", "−"));
  const scaled = (x) => (x === null ? null : budget ? x * budget : x);
  const said = budget ? money : part;
  const harmful = positive ? all.filter((row) => row[2] < 0).length : 0;
  const text = `${budget ? `How ${money(budget)} is shared out` : "What part of the value of all data each owner brings"}: by the worth of whole data sets (blue; the line is where that would lie for 95 of 100 validation sets like this one) and, to compare, by the worth of their points one by one (grey). ${
    exact ? "" : "Owners were sampled; the lines include that. "}${
    harmful ? `${plural(harmful, "owner is", "owners are")} below 0: predictions are better without that data, and the others together get more than ${budget ? "is there" : "100 %"}. Agree whether such an owner pays or just gets nothing. ` : ""}${
    positive ? "" : "The values add up to no more than 0, so their parts say nothing. "}${
    shown.length < all.length ? `The chart has the first ${shown.length} of ${count(all.length)} owners. ` : ""}`;
  byId("owners").hidden = false;
  byId("owners-title").textContent = budget ? "What owners are paid" : "What owners are worth";
  card(budget ? "Pay-outs" : "Parts of the value", text, shown.length * 44 + 60, true, () => ({
    type: "bar",
    data: { labels: shown.map((row) => row[0]), datasets: [
      { label: "whole data sets", data: shown.map((row, k) => (amounts ? amounts[k] : row[3])), backgroundColor: css("--accent"), barThickness: 14, borderRadius: 3 },
      { label: "point by point", data: shown.map((row) => scaled(row[6])), backgroundColor: css("--other"), barThickness: 8, borderRadius: 3 },
    ] },
    options: {
      indexAxis: "y",
      interaction: { mode: "index", axis: "y", intersect: false },
      scales: { x: { grace: "12%", title: { display: true, text: budget ? "pay-out" : "part of the value" }, ticks: { maxRotation: 0, autoSkipPadding: 16, callback: (x) => (budget ? count(x).replace("-", "−") : `${Number((100 * x).toPrecision(3))} %`) } },
        y: names((k) => (amounts ? money(amounts[k]) : part(shown[k][3]))) },
      plugins: { tooltip: { displayColors: false, callbacks: {
        title: (items) => clip(shown[items[0].dataIndex][0], 60),
        label: (item) => {
          const row = shown[item.dataIndex];
          return item.datasetIndex ? `point by point: ${said(scaled(row[6]))}`
            : [plural(row[1], "point"), `whole data set: ${said(amounts ? amounts[item.dataIndex] : row[3])}, from ${said(scaled(row[4]))} to ${said(scaled(row[5]))}`];
        } } } },
    },
    plugins: [line("x", 0, ""), { id: "intervals", afterDatasetsDraw(chart) {
      const { ctx, scales } = chart;
      ctx.save();
      ctx.strokeStyle = css("--text");
      ctx.lineWidth = 2;
      chart.getDatasetMeta(0).data.forEach((bar, k) => {
        if (shown[k][4] === null || !chart.isDatasetVisible(0)) return;
        ctx.beginPath();
        ctx.moveTo(scales.x.getPixelForValue(scaled(shown[k][4])), bar.y);
        ctx.lineTo(scales.x.getPixelForValue(scaled(shown[k][5])), bar.y);
        ctx.stroke();
      });
      ctx.restore();
    } }],
  }), () => [["owner", ...(amounts ? ["pay-out"] : []), "part of the value", "from", "to", "by points", "points", "value"],
    all.map((row, k) => [row[0], ...(amounts ? [money(amounts[k])] : []), ...row.slice(3).map(part), count(row[1]), number(row[2], 4)])], "owner-charts");
}

/* The panels in their order on the page. Each draws what `summary.PANELS` made for it. */
const PANELS = [
  histogramCard,
  curveCard,
  ownersCard,
  () => report.breakdowns.forEach((breakdown, k) => {
    spreadCard(breakdown, k);
    if (k > 0) lowCard(breakdown, k);
  }),
];
