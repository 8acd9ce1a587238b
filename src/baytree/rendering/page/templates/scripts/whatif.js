// What if: a row that can be changed, what the model's own formula says of it, why, and what would change the answer.
const MAX_OPTIONS = 300;
const MAX_TRIES = 3000;
const TIE = 1e-9; // relative: what is alike must not be told apart by rounding

class WhatIf {
  constructor(changed) {
    this.changed = changed;
    this.row = Object.create(null);
    this.form = document.getElementById("whatif-form");
    payload.columns.forEach((column, j) => this.form.append(this.entry(column, j)));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    const bars = document.getElementById("whatif-bars");
    if (payload.classes.length) this.beliefs = new Beliefs(bars, payload.classes, "p");
    else bars.append(this.number = element("p", { class: "question", "data-testid": "value", "data-value": "" }));
    this.least = document.getElementById("whatif-least");
    if (this.least) this.least.addEventListener("input", () => { this.silence(); this.update(); });
    if (this.least) this.silence();
    if (this.answered()) this.follow(); // at once: a page that has loaded changes no more by itself
  }

  // What asking for this much brings: the share of rows that are answered, and of right answers among them.
  silence() {
    const place = Math.round(100 * Number(this.least.value)), { share, right, low, tried } = payload.silence;
    document.getElementById("whatif-least-told").textContent = `${place} %`;
    if (!share) return;
    const told = document.getElementById("whatif-answered"), dot = document.getElementById("whatif-least-dot");
    told.dataset.share = String(share[place]);
    told.dataset.right = right[place] === null ? "" : String(right[place]);
    told.textContent = right[place] === null ? `No row is predicted, ${tried}.` : `${percent(share[place])} of the rows are predicted, ${percent(right[place])} of those correctly, ${tried}.`;
    dot.toggleAttribute("hidden", right[place] === null);
    dot.setAttribute("cx", 200 * share[place]);
    dot.setAttribute("cy", 200 * (1 - (right[place] ?? 1)) / (1 - low));
  }

  entry(column, j) {
    const id = `whatif-${j}`, input = this.input(column, id);
    this.set(column, input.value);
    const inputs = [input];
    if (column.kind === "numeric" && !column.unit && column.most > column.least) inputs.push(this.slider(column, input));
    const label = element("label", { for: id }, named(column.name));
    return element("div", { class: "entry" }, label, element("div", { class: "both" }, ...inputs));
  }

  input(column, id) {
    const own = { id, "data-column": column.name };
    let input;
    if (column.kind === "text" || column.unit || (column.levels && column.levels.length > MAX_OPTIONS)) input = element("input", { ...own, type: "text", placeholder: "unknown", autocomplete: "off" });
    else if (column.levels) {
      const options = column.levels.map((level) => element("option", { value: level }, named(level)));
      input = element("select", own, element("option", { value: "" }, "unknown"), ...options);
    } else input = element("input", { ...own, type: "number", step: "any", placeholder: "unknown" });
    if (column.typical !== null) input.value = column.typical;
    input.addEventListener("input", () => { this.set(column, input.value); this.update(); });
    return input;
  }

  slider(column, input) {
    const slider = element("input", { type: "range", min: column.least, max: column.most, step: (column.most - column.least) / 200, "aria-label": named(column.name) });
    slider.value = input.value;
    slider.addEventListener("input", () => { input.value = short(Number(slider.value)); this.set(column, input.value); this.update(); });
    input.addEventListener("input", () => { if (input.value !== "") slider.value = input.value; });
    return slider;
  }

  set(column, text) {
    this.row[column.name] = text === "" ? null : column.kind === "numeric" && !column.unit ? Number(text) : text;
  }

  update() {
    if (!this.answered()) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.follow(), 120);
  }

  // Shows the answer, or why there is none.
  answered() {
    try {
      this.answer();
      return true;
    } catch (error) {
      document.getElementById("whatif-answer").textContent = named(error.message, 200);
      return false;
    }
  }

  // What takes longer than the answer: the path in the drawings, and the changes that flip it.
  follow() {
    this.changed(this.row);
    if (payload.classes.length) this.flips();
  }

  answer() {
    const told = document.getElementById("whatif-answer");
    if (!payload.classes.length) {
      const value = model.predict(this.row);
      this.number.dataset.value = String(value);
      this.number.textContent = short(value);
      told.textContent = plain(payload.target);
      if (payload.sets) this.between(value, payload.sets.bounds[0]);
      this.ledger([0], value);
      return;
    }
    const p = shares(this.row), order = p.map((_, k) => k).sort((a, b) => p[b] - p[a] || a - b);
    this.beliefs.show(p);
    const answer = model.predict(this.row), sure = p[payload.classes.indexOf(answer)], least = Number(this.least.value);
    told.dataset.isSilent = String(sure < least);
    told.textContent = sure < least ? `${named(payload.target)}: no prediction, since ${named(answer)} has probability ${percent(sure)}` : `${named(payload.target)}: ${named(answer)}`;
    if (payload.sets) this.within(payload.classes.filter((_, k) => p[k] * (1 + TIE) + 1e-300 >= payload.sets.bounds[k]));
    this.ledger(order.slice(0, 2), p);
  }

  // The set of classes that rows kept back leave, as often right as was asked for.
  within(classes) {
    const set = document.getElementById("whatif-set"), names = classes.map((name) => named(name));
    set.dataset.value = JSON.stringify(classes);
    set.textContent = `${percent(payload.sets.asked)} set: ${names.length ? names.join(" or ") : "empty, since the row is atypical of every class"}`;
  }

  between(value, reach) {
    const set = document.getElementById("whatif-set");
    set.dataset.value = JSON.stringify(reach === null ? [] : [value - reach, value + reach]);
    set.textContent = `${percent(payload.sets.asked)} interval: ${reach === null ? "any number, since there are too few calibration rows" : `${short(value - reach)} to ${short(value + reach)}`}`;
  }

  // Of classes the answer against the next; where columns add nothing to scores (trees), what the answer loses without each.
  ledger(against, p) {
    const unit = document.getElementById("whatif-unit"), [best, other] = against;
    let lines = model.effects(this.row).map(({ column, effect }) => [column, other === undefined ? effect[0] : effect[best] - effect[other]]);
    if (lines.length) {
      const total = other === undefined ? p : Math.log(p[best]) - Math.log(p[other]);
      const start = total - lines.reduce((sum, [, amount]) => sum + amount, 0);
      if (Number.isFinite(start)) lines.unshift([null, start]);
      unit.textContent = other === undefined ? "contribution of each column" : `log-odds for ${named(payload.classes[best])} against ${named(payload.classes[other])}`;
    } else if (tree && !payload.tree.isPart) {
      tree.follow(this.row);
      lines = tree.changes(best, payload.classes.length ? p[best] : p);
      unit.textContent = payload.classes.length ? `change of the probability of ${named(payload.classes[best])} by each test` : "change by each test";
    } else {
      if (tree) tree.follow(this.row);  // a part of the model, whose tests do not tell all
      lines = payload.columns.map((column) => [column.name, this.without(column, best, p)]).filter(([, amount]) => Math.abs(amount) > 1e-12);
      unit.textContent = payload.classes.length ? `decrease of the probability of ${named(payload.classes[best])} without the column` : "decrease of the prediction without the column";
    }
    this.showLedger(lines);
  }

  without(column, best, p) {
    const row = this.with([[column, null]]);
    return payload.classes.length ? p[best] - shares(row)[best] : p - model.predict(row);
  }

  showLedger(lines) {
    const merged = new Map();
    for (const [name, amount] of lines) merged.set(name, (merged.get(name) ?? 0) + amount);
    const kept = [...merged].filter(([name]) => name === null).concat([...merged].filter(([name]) => name !== null).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 12));
    const largest = Math.max(...kept.map(([, amount]) => (Number.isFinite(amount) ? Math.abs(amount) : 0)), 1e-300);
    document.querySelector("#whatif-ledger tbody").replaceChildren(...kept.map(([name, amount]) => {
      const part = Number.isFinite(amount) ? 50 * amount / largest : 50 * Math.sign(amount);
      const bar = drawn("svg", { class: "ledger", viewBox: "-50 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        drawn("rect", { class: part > 0 ? "for" : "against", x: Math.min(0, part), y: 1, width: Math.abs(part), height: 6 }));
      const value = this.row[name];
      const label = name === null ? "start" : name === "" ? "missing values, priors, smoothing" : `${named(name, 60)} = ${value === null ? "unknown" : named(typeof value === "number" ? short(value) : value, 40)}`;
      return element("tr", {}, element("th", { scope: "row" }, label), element("td", { class: "num" }, (amount > 0 ? "+" : "") + (Math.abs(amount) >= 1000 ? short(amount) : amount.toFixed(3))), element("td", {}, bar));
    }));
  }

  // The nearest change of one column, or else of two, that flips the answer: numbers by their share of the column's extent.
  flips() {
    const now = model.predict(this.row), list = document.getElementById("whatif-flips");
    const moves = payload.columns.map((column) => this.moves(column));
    const single = [];
    payload.columns.forEach((column, j) => {
      let best = null;
      for (const move of moves[j]) {
        const changed = this.with([[column, move.value]]), answer = model.predict(changed);
        if (answer === now || (best && move.cost >= best.cost)) continue;
        best = { ...move, answer, column };
      }
      if (best && column.kind === "numeric" && this.row[column.name] !== null) best = this.nearest(best, now);
      if (best) single.push(best);
    });
    single.sort((a, b) => a.cost - b.cost);
    const found = single.slice(0, 3).map((move) => [[move], move.answer]);
    if (!found.length) found.push(...this.pairs(moves, now));
    list.replaceChildren(...(found.length ? found.map(([changes, answer]) => element("li", {}, `${changes.map((move) => this.told(move)).join(" and ")}: ${named(answer)}`)) : [element("li", {}, "No change of one or two columns changes the prediction.")]));
  }

  told({ column, value }) {
    const now = this.row[column.name], say = (v) => (v === null ? "unknown" : named(typeof v === "number" ? shownIn(column, v) : v, 60));
    return `${named(column.name, 60)} ${say(value)} instead of ${say(now)}`;
  }

  moves(column) {
    if (column.kind === "text" || column.unit) return [];
    const now = this.row[column.name];
    if (column.levels) return column.levels.slice(0, MAX_OPTIONS).filter((level) => level !== now).map((value) => ({ value, cost: 1, column }));
    const extent = column.most - column.least || 1, steps = Array.from({ length: 25 }, (_, k) => column.least + extent * k / 24);
    return [...column.point, ...steps].map((value) => ({ value, cost: now === null ? 1 : Math.abs(value - now) / extent, column }));
  }

  nearest(move, now) {
    let same = this.row[move.column.name], other = move.value, answer = move.answer;
    for (let k = 0; k < 40; k++) {
      const middle = (same + other) / 2, given = model.predict(this.with([[move.column, middle]]));
      if (given === now) same = middle;
      else [other, answer] = [middle, given];
    }
    const rounded = Number(other.toPrecision(4)), value = model.predict(this.with([[move.column, rounded]])) === answer ? rounded : other;
    return { ...move, value, answer, cost: Math.abs(value - this.row[move.column.name]) / (move.column.most - move.column.least || 1) };
  }

  pairs(moves, now) {
    let best = null, tries = 0;
    for (let i = 0; i < moves.length; i++) for (let j = i + 1; j < moves.length; j++) for (const a of moves[i]) for (const b of moves[j]) {
      if (++tries > MAX_TRIES) return best ? [best] : [];
      if (best && a.cost + b.cost >= best.cost) continue;
      const answer = model.predict(this.with([[a.column, a.value], [b.column, b.value]]));
      if (answer !== now) best = Object.assign([[a, b], answer], { cost: a.cost + b.cost });
    }
    return best ? [best] : [];
  }

  with(changes) {
    const row = Object.create(null);
    for (const { name } of payload.columns) row[name] = this.row[name];
    for (const [{ name }, value] of changes) row[name] = value;
    return row;
  }
}
