// Names as they can be shown, numbers as they can be read, and elements made from them. Nothing is ever parsed as HTML.
const payloads = JSON.parse(document.getElementById("payload").textContent); // of each model on the page; `models` are their formulas
let payload, model, tree, boundary; // of the model that is shown
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Characters that cannot be seen, or that turn the reading direction, are written out.
function plain(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"));
}

const MAX_LISTED_LEVELS = 12;

// "a or b"; of more levels their number, the first ones, and how many more there are.
function listed(levels) {
  if (levels.length <= MAX_LISTED_LEVELS) return levels.join(" or ");
  const first = levels.slice(0, 3).map((level) => (level.length > 20 ? `${level.slice(0, 19)}\u2026` : level));
  return `one of ${levels.length} levels: ${first.join(", ")}, +${levels.length - first.length}`;
}

function named(text, most = 120) {
  const letters = Array.from(plain(text));
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : letters.join("");
}

function short(value) {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) < 1e15 && Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

// As people write numbers: thousands apart, three significant digits. What must be exact, such as a threshold, is `short`.
function brief(value) {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e15) return short(value);
  return Math.abs(value) >= 1000 || Number.isInteger(value) ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}

function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share < 1 && share > 0.999) return "> 99.9 %";
  return (share === 0 || share === 1 || (share >= 0.1 && share <= 0.9) ? (100 * share).toFixed(0) : (100 * share).toFixed(1)) + " %";
}

function interval(low, high) {
  if (low === null && high === null) return "any";
  if (low === null) return "\u2264 " + short(high);
  return high === null ? "> " + short(low) : short(low) + " to " + short(high);
}

// A date is the number of its units since 1970, shown as a day.
const DAYS = { D: 1, h: 1 / 24, m: 1 / 1440, s: 1 / 86400, ms: 1 / 864e5, us: 1 / 864e8, W: 7 };
function shownIn(column, value) {
  if (column.unit && DAYS[column.unit] && Number.isFinite(value)) return new Date(value * DAYS[column.unit] * 864e5).toISOString().slice(0, 10);
  return short(value);
}

const OTHER = 7; // position of grey: the eighth class, or all from the eighth on

function coloured(place) {
  return "k" + Math.min(place, OTHER);
}

function legend(list, classes) {
  const labels = classes.length > OTHER + 1 ? [...classes.slice(0, OTHER), `${classes.length - OTHER} other classes`] : classes;
  list.replaceChildren(...labels.map((name, place) => element("li", { class: coloured(place) }, element("span", { class: "swatch" }), element("span", {}, named(name)))));
}
