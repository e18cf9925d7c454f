const report = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/* Everything that comes from the data goes through here, as text or as an attribute, never as markup. */
function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const noun = report.numeric ? "target" : "label";

/* Text of the data. Whatever direction it is written in, the text around it keeps its own. */
const data = (text, props) => el("bdi", { class: "data", ...props }, text === "" ? el("span", { class: "muted" }, "empty") : String(text));

const whole = new Intl.NumberFormat("en");
const count = (n) => whole.format(n);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + "s"}`;

function number(x, digits = 3) {
  if (x === null || x === undefined) return "";
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return (Math.abs(x) < 1e5 ? String(x) : count(x)).replace("-", "−");
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-6 ? x.toExponential(digits - 1) : String(Number(x.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

/* Numbers that stand below each other have the same digits: three that count, or two decimals. */
function worth(x) {
  const size = Math.abs(x ?? 0);
  return size >= 1e-6 && size < 1e3 ? x.toPrecision(3).replace("-", "−") : number(x);
}
const score = (x) => (x === null || x === undefined ? "" : x.toFixed(2).replace("-", "−"));

/* A target as people read it: 3,800,000 or 0.1235, never 3.8e+6. */
const quantity = (x) => (Math.abs(x) >= 1e4 && Math.abs(x) < 1e15 ? count(Math.round(x)).replace("-", "−") : number(x, 4));

const percent = (part, total) => {
  if (!total) return "0 %";
  const share = (100 * part) / total;
  return `${share === 0 || share >= 9.95 ? Math.round(share) : share < 0.1 ? "< 0.1" : share.toFixed(1)} %`;
};
const clip = (text, length) => (text.length > length ? text.slice(0, length - 1).trimEnd() + "…" : text);

/* What the browser remembers. Private windows and some settings do not allow it: then it remembers nothing. */
const memory = {
  get(key) {
    try { return JSON.parse(localStorage.getItem("dataworth:" + key)); } catch { return null; }
  },
  set(key, value) {
    try {
      localStorage.setItem("dataworth:" + key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};

function picture(place, size) {
  if (typeof place !== "number") {
    const why = typeof place === "string" ? place : "missing";
    return el("span", { class: `picture none ${size}`, role: "img", "aria-label": `No picture: ${why}`, title: why }, "no picture");
  }
  const image = el("img", { class: `picture ${size}`, src: report.images[place], alt: "", loading: "lazy" });
  image.addEventListener("load", () => image.classList.toggle("pixels", image.naturalWidth < 64));
  return image;
}
