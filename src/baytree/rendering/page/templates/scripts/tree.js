// The tree: cards on branches, laid out anew whenever something opens or closes.
const CARD = { width: 176, height: 66, across: 194, down: 132, margin: 18 };
const CHART = { top: 64, height: 38, width: 152, space: 56 }; // the histogram in a card, and the space that it adds
const MIN_TEXT_SCALE = 11 / 12; // of text of 12 pixels: below 11 pixels it is not drawn, and cards are coloured blocks
const MAX_READABLE_LEAVES = 60; // leaves side by side beyond which a whole tree is drawn as blocks
const MIN_MAP_CARDS = 40; // cards of a tree with a map
const FIRST_LEVELS = 4;
const SPREAD = -2; // a row whose branch is not known goes down every one, in shares
const MAX_RULES = 200; // rules listed, those that cover most rows
const MAX_FULL = 400; // cards that are drawn in full at once; of more, those in sight

class TreeDrawing {
  constructor(tree) {
    this.nodes = tree.nodes.map(([id, parent, branch, rows, weight, prediction, answer, counts, asked, complexity, risk, condition, missing = -1, surrogates = []], place) =>
      ({ id, parent, branch, rows, weight, prediction, answer, counts, asked, complexity, risk, condition, missing, surrogates, place, children: [], depth: 0 }));
    for (const node of this.nodes.slice(1)) {
      const above = this.nodes[node.parent];
      above.children.push(node);
      node.depth = above.depth + 1;
    }
    this.columns = [...payload.columns, ...(tree.sums ?? [])]; // a sum of columns is asked for like one of them
    this.isClasses = payload.classes.length > 0;
    this.svg = document.getElementById("tree-drawing");
    this.scroll = document.getElementById("tree-scroll");
    this.told = document.getElementById("tree-told");
    this.ruler = document.createElement("canvas").getContext("2d");
    this.open = new Set();
    this.path = tree.path;
    this.histograms = tree.histograms ?? {};
    this.charted = Object.keys(this.histograms).length ? CHART.space : 0;
    this.tried = tree.tried;
    this.penalty = -Infinity;
    this.lit = new Set();
    this.scale = 1;
    this.current = this.nodes[0];
    this.openToFit();
    this.listen();
    this.draw();
    this.settle();
  }

  get cardHeight() { return CARD.height + this.charted; }
  get down() { return CARD.down + this.charted; }

  heightOf(node) { return this.isSplit(node) && this.histograms[node.place] ? this.cardHeight : CARD.height; }

  // As many levels as the width holds with text of a readable size.
  openToFit() {
    for (let depth = FIRST_LEVELS; depth >= 1; depth--) {
      this.openTo(depth);
      this.layout();
      if (this.width * MIN_TEXT_SCALE <= this.scroll.clientWidth) return;
    }
  }

  openTo(depth) {
    this.open = new Set(this.nodes.filter((node) => node.children.length && node.depth < depth).map((node) => node.place));
  }

  isSplit(node) {
    return node.children.length > 0 && node.complexity > this.penalty;
  }

  childrenOf(node) {
    return this.isSplit(node) && this.open.has(node.place) ? node.children : [];
  }

  // Leaves stand side by side, parents over the middle of their children; without recursion, since trees may be deep.
  layout() {
    const order = [], waiting = [this.nodes[0]];
    while (waiting.length) {
      const node = waiting.pop();
      order.push(node);
      const children = this.childrenOf(node);
      for (let k = children.length - 1; k >= 0; k--) waiting.push(children[k]);
    }
    let next = 0, deepest = 0;
    for (const node of order) if (!this.childrenOf(node).length) node.x = next++;
    for (const node of order.slice().reverse()) {
      const children = this.childrenOf(node);
      if (children.length) node.x = (children[0].x + children[children.length - 1].x) / 2;
      deepest = Math.max(deepest, node.depth);
    }
    this.width = next * CARD.across - (CARD.across - CARD.width) + 2 * CARD.margin;
    this.height = deepest * this.down + this.cardHeight + 2 * CARD.margin;
    return order;
  }

  draw() {
    const order = this.layout(), cards = drawn("g");
    this.edges = drawn("g");
    this.linked = new Set();
    this.labels = drawn("g");
    for (const node of order) cards.append(this.card(node));
    this.svg.replaceChildren(this.edges, this.labels, cards);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.waiting = this.order = order;
    this.resize();
  }

  resize() {
    this.svg.setAttribute("width", Math.round(this.width * this.scale));
    this.svg.setAttribute("height", Math.round(this.height * this.scale));
    this.svg.classList.toggle("blocks", this.scale < MIN_TEXT_SCALE - 1e-9);
    this.complete();
    this.map();
  }

  // Draws in full what waits for it: all cards of a small tree, of a large one those in sight and about them.
  complete() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroll, isSmall = this.waiting.length <= MAX_FULL, rest = [];
    const from = [scrollLeft - clientWidth, scrollTop - clientHeight], to = [scrollLeft + 2 * clientWidth, scrollTop + 2 * clientHeight];
    const isText = this.scale >= MIN_TEXT_SCALE - 1e-9;
    for (const node of this.waiting) {
      if (!isText) { // blocks: only the branches
        this.link(node);
        rest.push(node);
        continue;
      }
      const x = this.left(node) * this.scale, y = this.top(node) * this.scale;
      const isNear = isSmall || (x < to[0] && x + CARD.across * this.scale > from[0] && y < to[1] && y + this.down * this.scale > from[1]);
      if (isNear) this.detail(node);
      else rest.push(node);
    }
    this.waiting = rest;
  }

  left(node) { return CARD.margin + node.x * CARD.across; }
  top(node) { return CARD.margin + node.depth * this.down; }

  edge(node, child) {
    const x0 = this.left(node) + CARD.width / 2, y0 = this.top(node) + this.heightOf(node), x1 = this.left(child) + CARD.width / 2, y1 = this.top(child);
    const bend = (y0 + y1 - 26) / 2;
    const thick = 1 + 7 * Math.sqrt(child.weight / (this.nodes[0].weight || 1));
    const line = drawn("path", { class: "edge", d: `M${x0} ${y0}C${x0} ${bend} ${x1} ${bend} ${x1} ${y1 - 26}V${y1}`, "stroke-width": thick.toFixed(2) });
    line.classList.toggle("lit", this.lit.has(child.place));
    return line;
  }

  label(child) {
    const value = this.row && this.lit.has(child.place) ? this.value(child.condition[0], this.row) : null;
    const own = value === null || value === undefined ? "" : ` (${typeof value === "number" ? shownIn(this.columns[child.condition[0]], value) : plain(String(value))})`;
    const text = this.fitted(plain(child.branch) + own, CARD.width + 6, "12px system-ui"), width = this.ruler.measureText(text).width + 10;
    const x = this.left(child) + CARD.width / 2, y = this.top(child) - 9;
    return drawn("g", {}, drawn("rect", { class: "plate", x: x - width / 2, y: y - 13, width, height: 18, rx: 4 }), drawn("text", { class: "branch", x, y, "text-anchor": "middle" }, text));
  }

  card(node) {
    const isSplit = this.isSplit(node), isClosed = isSplit && !this.open.has(node.place);
    const card = drawn("g", {
      class: `node ${isSplit ? "" : "leaf"} ${this.isClasses ? coloured(node.prediction) : ""}`, transform: `translate(${this.left(node)} ${this.top(node)})`, "data-testid": "node",
      "data-node": node.id, "data-n": node.weight, "data-prediction": this.isClasses ? payload.classes[node.prediction] : String(node.answer),
      tabindex: node === this.current ? "0" : "-1", role: "button", "aria-expanded": String(isSplit && !isClosed),
    });
    card.classList.toggle("lit", this.lit.has(node.place));
    card.classList.toggle("found", Boolean(this.sought) && node.asked !== null && isSplit && this.columns[node.asked].name.toLowerCase().includes(this.sought));
    card.append(drawn("rect", { class: "face", width: CARD.width, height: this.heightOf(node), rx: 9 }), drawn("text", { display: "none" }, this.support(node)));
    card.addEventListener("click", () => this.choose(node, true));
    node.card = card;
    return card;
  }

  link(node) {
    if (node === this.nodes[0] || this.linked.has(node.place)) return;
    this.linked.add(node.place);
    this.edges.append(this.edge(this.nodes[node.parent], node));
  }

  detail(node) {
    const { card } = node, isSplit = this.isSplit(node), isClosed = isSplit && !this.open.has(node.place);
    this.link(node);
    if (node !== this.nodes[0]) this.labels.append(this.label(node));
    const name = this.fitted(isSplit ? `${plain(this.columns[node.asked].name)} ?` : this.answer(node), CARD.width - (isClosed ? 92 : 24), "600 13px system-ui");
    const support = this.fitted(this.support(node), CARD.width - 24, "12px system-ui"), more = isClosed ? this.stub(node) : "";
    card.lastChild.remove();
    card.append(
      drawn("text", { class: "name", x: 12, y: 21 }, `${name} `), // a space, so that lines are also heard apart
      drawn("text", { x: 12, y: 39 }, `${support} `),
    );
    if (isClosed) card.append(drawn("text", { class: "more", x: CARD.width - 12, y: 21, "text-anchor": "end" }, more));
    this.bar(card, node);
    if (isSplit && this.histograms[node.place]) this.chart(card, node, this.histograms[node.place]);
  }

  bar(card, node) {
    const whole = CARD.width - 24;
    card.append(drawn("rect", { class: "track", x: 12, y: 48, width: whole, height: 8, rx: 2 }));
    if (!this.isClasses) {
      const [least, most] = this.extent();
      const part = most > least ? (node.answer - least) / (most - least) : 1;
      card.append(drawn("rect", { class: "k k0", x: 12, y: 48, width: (whole * part).toFixed(2), height: 8 }));
      return;
    }
    const total = node.counts.reduce((sum, [, weight]) => sum + weight, 0) || 1;
    let left = 12;
    for (const [code, weight] of node.counts) {
      card.append(drawn("rect", { class: `k ${coloured(code)}`, x: left.toFixed(2), y: 48, width: (whole * weight / total).toFixed(2), height: 8 }));
      left += whole * weight / total;
    }
  }

  // The column that a split tests, among the rows of the node: bars by class, or mean and spread of the target.
  chart(card, node, histogram) {
    const { range, levels, weights, classes } = histogram, left = (CARD.width - CHART.width) / 2, base = CHART.top + CHART.height;
    const totals = weights ? weights.map((each) => each.reduce((sum, part) => sum + part, 0)) : histogram.rows;
    const step = CHART.width / totals.length, highest = Math.max(...totals) || 1, space = range ? 0.5 : 2;
    const bar = (k, from, to) => `M${(left + k * step + space).toFixed(1)} ${(base - from).toFixed(1)}h${(step - 2 * space).toFixed(1)}V${(base - to).toFixed(1)}h${(2 * space - step).toFixed(1)}z`;
    if (weights) {
      const reached = totals.map(() => 0);
      classes.forEach((code, j) => {
        const path = weights.map((each, k) => {
          const from = reached[k];
          reached[k] += CHART.height * each[j] / highest;
          return each[j] ? bar(k, from, reached[k]) : "";
        }).join("");
        if (path) card.append(drawn("path", { class: `k chart ${coloured(code)}`, d: path }));
      });
    } else {
      const ends = histogram.mean.flatMap((mean, k) => totals[k] ? [mean - histogram.deviation[k], mean + histogram.deviation[k]] : []);
      const low = Math.min(...ends), high = Math.max(...ends), y = (value) => (high > low ? CHART.height * (value - low) / (high - low) : CHART.height / 2);
      const filled = totals.map((total, k) => k).filter((k) => totals[k] > 0), x = (k) => (left + (k + 0.5) * step).toFixed(1);
      card.append(drawn("path", { class: "chart spread", d: filled.map((k) => `M${x(k)} ${(base - y(histogram.mean[k] - histogram.deviation[k])).toFixed(1)}V${(base - y(histogram.mean[k] + histogram.deviation[k])).toFixed(1)}`).join("") }));
      for (const k of filled) card.append(drawn("circle", { class: "chart mean", cx: x(k), cy: (base - y(histogram.mean[k])).toFixed(1), r: 2.2 }));
    }
    card.append(drawn("path", { class: "axis", d: `M${left} ${base}h${CHART.width}` }));
    const under = { y: base + 13, class: "tick" };
    if (levels) {
      const names = this.columns[node.asked].levels, shown = levels.slice(0, 3).map((code) => plain(names[code])).join(", ") + (totals.length > 3 ? ", \u2026" : "");
      card.append(drawn("text", { ...under, x: left }, this.fitted(shown, CHART.width, "12px system-ui")));
      return;
    }
    const [low, high] = range, about = this.columns[node.asked];
    for (const cut of new Set(node.children.flatMap((child) => [child.condition[1], child.condition[2]]))) {
      if (cut === null || cut < low || cut > high || low === high) continue;
      const x = (left + CHART.width * (cut - low) / (high - low)).toFixed(1);
      card.append(drawn("path", { class: "threshold", d: `M${x} ${CHART.top - 3}V${base + 3}` }));
    }
    card.append(drawn("text", { ...under, x: left }, this.fitted(shownIn(about, low), 70, "12px system-ui")));
    card.append(drawn("text", { ...under, x: left + CHART.width, "text-anchor": "end" }, this.fitted(shownIn(about, high), 70, "12px system-ui")));
  }

  extent() {
    this.known ??= [Math.min(...this.nodes.map((node) => node.answer)), Math.max(...this.nodes.map((node) => node.answer))];
    return this.known;
  }

  // What is closed below a card.
  stub(node) {
    let leaves = 0;
    const waiting = [...node.children];
    while (waiting.length) {
      const next = waiting.pop();
      if (this.isSplit(next)) waiting.push(...next.children);
      else leaves++;
    }
    return `+${leaves} leaves`;
  }

  answer(node) { return this.isClasses ? plain(payload.classes[node.prediction]) : brief(node.answer); }

  support(node) {
    const rows = `${brief(node.rows)} rows`;
    return this.isClasses ? (this.isSplit(node) ? `${rows} \u00b7 ${percent(node.answer)} ${this.answer(node)}` : `${rows} \u00b7 ${percent(node.answer)}`) : (this.isSplit(node) ? `${rows} \u00b7 mean ${brief(node.answer)}` : rows);
  }

  // The whole way to a node in words, category names in full.
  sentence(node) {
    const way = [];
    for (let at = node; at.parent >= 0; at = this.nodes[at.parent]) way.unshift(this.condition(at));
    const told = `${this.answer(node)}, ${this.support(node)}`;
    return `${way.length ? way.join(" and ") + ": " : "All rows: "}${told}${this.isSplit(node) ? `; tests ${plain(this.columns[node.asked].name)}` : ""}`;
  }

  condition(node) {
    const [column, low, high, fromLow, belowHigh, levels, missing] = node.condition, about = this.columns[column];
    const name = plain(about.name);
    let test = "";
    if (levels) test = levels.length ? `${name} is ${listed(levels.map((code) => plain(about.levels[code])))}` : "";
    else {
      const parts = [];
      if (low !== null) parts.push(`${name} ${fromLow ? "\u2265" : ">"} ${shownIn(about, low)}`);
      if (high !== null) parts.push(`${name} ${belowHigh ? "<" : "\u2264"} ${shownIn(about, high)}`);
      test = parts.join(" and ") || `${name} is known`;
    }
    return missing ? (test ? `${test} or missing` : `${name} is missing`) : test || `${name}: none`;
  }

  // The value that a test asks for: a column's, or a sum's, which is missing where one of its columns is.
  value(column, row) {
    const { name, terms } = this.columns[column];
    if (!terms) return row[name] ?? null;
    if (terms.some(([of]) => (row[of] ?? null) === null)) return null;
    const sum = terms.map(([of, weight]) => weight * row[of]).reduce((sum, part) => sum + part);
    return sum === sum ? sum : null;
  }

  passes(condition, row) {
    const [column, low, high, fromLow, belowHigh, levels] = condition, value = this.value(column, row);
    if (levels) return levels.some((code) => this.columns[column].levels[code] === value);
    return (low === null || (fromLow ? value >= low : value > low)) && (high === null || (belowHigh ? value < high : value <= high));
  }

  // Lights the way of a row; where a share of it goes down every branch, all of these ways.
  light(row) {
    this.row = row;
    this.follow(row);
    this.draw();
  }

  follow(row) {
    this.lit = new Set();
    this.way = []; // until the row is shared out
    const waiting = [this.nodes[0]];
    let isWhole = true;
    while (waiting.length) {
      const node = waiting.pop();
      this.lit.add(node.place);
      if (isWhole) this.way.push(node);
      const next = this.next(node, row);
      if (next.length > 1) isWhole = false;
      waiting.push(...next);
    }
  }

  // The branch that a row takes: by its own value, else by the first surrogate that can tell, else that of missing values.
  next(node, row) {
    const known = (condition) => this.value(condition[0], row) !== null, { children } = node;
    if (!children.length) return [];
    const own = known(children[0].condition) ? children.find((child) => this.passes(child.condition, row)) : undefined;
    if (own) return [own];
    for (const sides of node.surrogates) {
      const branch = known(sides[0]) ? sides.findIndex((condition) => this.passes(condition, row)) : -1;
      if (branch >= 0) return [children[branch]];
    }
    return node.missing >= 0 ? [children[node.missing]] : node.missing === SPREAD ? children : [];
  }

  // What each test on the way of a row changed of the share of an answer, or of the mean; what is left is not by tests.
  changes(place, answer) {
    const share = (node) => (this.isClasses ? (node.counts.find(([code]) => code === place)?.[1] ?? 0) / (node.counts.reduce((sum, [, weight]) => sum + weight, 0) || 1) : node.answer);
    const { way } = this, lines = [[null, share(way[0])]];
    for (let k = 1; k < way.length; k++) lines.push([this.columns[way[k].condition[0]].name, share(way[k]) - share(way[k - 1])]);
    const rest = answer - lines.reduce((sum, [, amount]) => sum + amount, 0);
    return Math.abs(rest) > 1e-9 ? [...lines, ["", rest]] : lines;
  }

  choose(node, isToggled) {
    this.current = node;
    if (isToggled && this.isSplit(node)) {
      if (this.open.has(node.place)) this.open.delete(node.place);
      else this.open.add(node.place);
    }
    this.draw();
    node.card.focus({ preventScroll: true });
    node.card.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.told.textContent = named(this.sentence(node), 2000);
  }

  walk(key) {
    const node = this.current, above = this.nodes[node.parent];
    if (key === "ArrowUp" && above) this.choose(above, false);
    if (key === "ArrowDown" && this.isSplit(node)) {
      this.open.add(node.place);
      this.choose(node.children[0], false);
    }
    const beside = above ? above.children[above.children.indexOf(node) + (key === "ArrowRight" ? 1 : -1)] : null;
    if ((key === "ArrowLeft" || key === "ArrowRight") && beside) this.choose(beside, false);
  }

  fitted(text, width, font) {
    this.ruler.font = font;
    if (this.ruler.measureText(text).width <= width) return text;
    const letters = Array.from(text.slice(0, 80));
    while (letters.length && this.ruler.measureText(letters.join("") + "\u2026").width > width) letters.pop();
    return letters.join("").trimEnd() + "\u2026";
  }

  zoom(factor) {
    this.scale = Math.min(2, Math.max(0.02, this.scale * factor));
    this.resize();
  }

  // Everything open: from the left edge, or as blocks where the whole is many times wider than the page.
  showAll() {
    const isLarge = this.layout().filter((node) => !this.childrenOf(node).length).length > MAX_READABLE_LEAVES;
    if (isLarge) this.scale = Math.min(this.scale, MIN_TEXT_SCALE / 2); // no text is made that is not shown
    this.draw();
    if (isLarge) this.fit();
    else this.scroll.scrollTo(0, 0);
  }

  // All of the drawing: cards without text where it would be too small to read.
  fit() {
    const { clientWidth, clientHeight } = this.scroll;
    this.scale = Math.min(1, Math.max(0.02, Math.min((clientWidth - 4) / this.width, Math.max(clientHeight, 320) / this.height)));
    this.resize();
    this.center();
  }

  // The width of the drawing, as far as its text stays readable.
  settle() {
    this.scale = Math.min(1, Math.max(MIN_TEXT_SCALE, (this.scroll.clientWidth - 4) / this.width));
    this.resize();
    this.center();
  }

  center() {
    const root = this.left(this.nodes[0]) + CARD.width / 2;
    this.scroll.scrollLeft = root * this.scale - this.scroll.clientWidth / 2;
  }

  // A small picture of the whole, with what is in sight; a click or a drag on it moves there.
  map() {
    const map = document.getElementById("tree-map"), order = this.order;
    const isWhole = this.width * this.scale <= this.scroll.clientWidth + 2 && this.height * this.scale <= this.scroll.clientHeight + 2;
    map.toggleAttribute("hidden", isWhole || order.length <= MIN_MAP_CARDS);
    if (isWhole || order.length <= MIN_MAP_CARDS) return;
    if (this.mapped !== order) {
      this.mapped = order;
      map.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      const dots = new Map();
      for (const node of order) {
        const kind = this.isSplit(node) ? "split" : this.isClasses ? coloured(node.prediction) : "k0";
        dots.set(kind, `${dots.get(kind) ?? ""}M${this.left(node).toFixed(0)} ${this.top(node).toFixed(0)}h${CARD.width}v${this.cardHeight}h${-CARD.width}z`);
      }
      this.sight = drawn("rect", { class: "sight" });
      map.replaceChildren(...[...dots].map(([kind, path]) => drawn("path", { class: `dot ${kind}`, d: path })), this.sight);
    }
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroll;
    const box = { x: scrollLeft, y: scrollTop, width: Math.min(clientWidth, this.width * this.scale), height: Math.min(clientHeight, this.height * this.scale) };
    for (const [name, value] of Object.entries(box)) this.sight.setAttribute(name, (value / this.scale).toFixed(1));
  }

  moveTo(event) {
    const box = document.getElementById("tree-map").getBoundingClientRect(), part = Math.min(box.width / this.width, box.height / this.height);
    const x = (event.clientX - box.left - (box.width - part * this.width) / 2) / part, y = (event.clientY - box.top - (box.height - part * this.height) / 2) / part;
    this.scroll.scrollTo(x * this.scale - this.scroll.clientWidth / 2, y * this.scale - this.scroll.clientHeight / 2);
  }

  prune(step) {
    const [cp, leaves, risk, error] = this.path[step];
    this.penalty = cp;
    const tried = error === undefined || error === null ? "" : `, ${error.toFixed(3)} (${this.tried})`;
    const name = this.isClasses ? "Error" : "Squared error";
    document.getElementById("tree-size").textContent = `${leaves} ${leaves === 1 ? "leaf" : "leaves"}. ${name} relative to the root: ${risk.toFixed(3)} (training)${tried}.`;
    this.errors(step);
    this.draw();
    if (this.wasPruned) {
      this.settle();
      this.retell();
    }
    this.wasPruned = true;
  }

  // The error along the slider: in training, and held out where it was measured.
  errors(step) {
    const place = document.getElementById("tree-errors"), box = { width: 400, height: 60 }, last = this.path.length - 1;
    const highest = Math.max(...this.path.flatMap(([, , risk, error]) => [risk, error ?? 0])) || 1;
    const x = (k) => (box.width * k / last).toFixed(1), y = (value) => (box.height - 4 - (box.height - 8) * value / highest).toFixed(1);
    const line = (column) => this.path.map((each, k) => `${k ? "L" : "M"}${x(k)} ${y(each[column])}`).join("");
    const isMeasured = this.path.every((each) => each[3] !== undefined && each[3] !== null);
    place.replaceChildren(
      drawn("path", { class: "line training", d: line(2) }),
      ...(isMeasured ? [drawn("path", { class: "line held", d: line(3) })] : []),
      drawn("path", { class: "now", d: `M${x(step)} 0V${box.height}` }),
    );
    document.getElementById("tree-errors-legend").textContent = isMeasured ? `Grey: error on the training rows. Blue: error ${this.tried}.` : "Grey: error on the training rows.";
  }

  // Figures and rules of the pruned tree.
  retell() {
    const reached = [], waiting = [this.nodes[0]];
    while (waiting.length) {
      const node = waiting.pop();
      reached.push(node);
      if (this.isSplit(node)) waiting.push(...node.children);
    }
    const leaves = reached.filter((node) => !this.isSplit(node)).sort((a, b) => b.weight - a.weight);
    const figures = { n_nodes: reached.length, n_leaves: leaves.length, depth: Math.max(...reached.map((node) => node.depth)) };
    for (const [name, value] of Object.entries(figures)) {
      const figure = document.querySelector(`[data-testid="number"][data-name="${name}"]`);
      if (figure) [figure.dataset.value, figure.textContent] = [String(value), short(value)];
    }
    const body = document.querySelector("#rules tbody");
    if (body) body.replaceChildren(...leaves.slice(0, MAX_RULES).map((leaf) => this.rule(leaf)));
  }

  rule(leaf) {
    const tests = new Map(), whole = this.nodes[0].weight || 1;
    for (let at = leaf; at.parent >= 0; at = this.nodes[at.parent]) {
      const column = at.condition[0], deeper = tests.get(column);
      tests.delete(column);
      tests.set(column, deeper ? [column, deeper[1] ?? at.condition[1], deeper[2] ?? at.condition[2], deeper[1] === null ? at.condition[3] : deeper[3], deeper[2] === null ? at.condition[4] : deeper[4], deeper[5] ?? at.condition[5], deeper[6]] : at.condition);
    }
    const words = [...tests.values()].reverse().map((condition) => named(this.condition({ condition }), 120));
    const number = (text, value) => element("td", { class: "num", "data-sort": String(value) }, text), cover = leaf.weight / whole;
    return element("tr", {},
      element("td", {}, ...(words.length ? words : ["always"]).map((text) => element("span", { class: "test" }, text))),
      element("td", { class: this.isClasses ? coloured(leaf.prediction) : "k0" }, element("span", { class: "swatch" }), named(this.answer(leaf), 120)),
      number(this.isClasses ? percent(leaf.answer) : "", this.isClasses ? leaf.answer : 0), number(short(leaf.weight), leaf.weight), number(percent(cover), cover));
  }

  // The splits one after the other, as the tree grows: row by row from the top.
  grow() {
    clearInterval(this.timer);
    const order = this.nodes.filter((node) => this.isSplit(node)).sort((a, b) => a.depth - b.depth || a.place - b.place).slice(0, 60);
    this.open = new Set();
    this.draw();
    let step = 0;
    this.timer = setInterval(() => {
      if (step >= order.length) return clearInterval(this.timer);
      this.open.add(order[step++].place);
      this.draw();
    }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 1500 : 700);
  }

  find(text) {
    this.sought = text.trim().toLowerCase();
    const found = this.sought ? this.nodes.filter((node) => this.isSplit(node) && this.columns[node.asked].name.toLowerCase().includes(this.sought)) : [];
    for (const node of found.slice(0, 50)) for (let at = this.nodes[node.parent]; at; at = this.nodes[at.parent]) this.open.add(at.place);
    this.draw();
    this.settle();
    this.told.textContent = this.sought ? `${found.length} ${found.length === 1 ? "card tests" : "cards test"} such a column.` : "";
  }

  listen() {
    const on = (id, event, work) => document.getElementById(id)?.addEventListener(event, work);
    on("tree-all", "click", () => { clearInterval(this.timer); this.openTo(Infinity); this.showAll(); });
    on("tree-less", "click", () => { clearInterval(this.timer); this.openToFit(); this.draw(); this.settle(); });
    on("tree-grow", "click", () => this.grow());
    on("tree-in", "click", () => this.zoom(1.25));
    on("tree-out", "click", () => this.zoom(0.8));
    on("tree-fit", "click", () => this.fit());
    on("tree-full", "click", () => (document.fullscreenElement ? document.exitFullscreen() : document.getElementById("tree-frame").requestFullscreen()));
    on("tree-map", "pointerdown", (event) => { event.currentTarget.setPointerCapture(event.pointerId); this.moveTo(event); });
    on("tree-map", "pointermove", (event) => { if (event.buttons) this.moveTo(event); });
    on("tree-find", "input", (event) => this.find(event.target.value));
    on("tree-prune", "input", (event) => this.prune(Number(event.target.value)));
    if (document.getElementById("tree-prune")) this.prune(this.path.length - 1);
    legend(document.getElementById("tree-legend"), payload.classes);
    this.svg.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.choose(this.current, true); }
      if (event.key.startsWith("Arrow")) { event.preventDefault(); this.walk(event.key); }
    });
    this.drag();
  }

  // Two fingers: their distance is the scale.
  pinch(place) {
    const touches = new Map();
    let before = 0;
    place.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") touches.set(event.pointerId, event); });
    place.addEventListener("pointermove", (event) => {
      if (!touches.has(event.pointerId)) return;
      touches.set(event.pointerId, event);
      if (touches.size !== 2) return;
      const [a, b] = touches.values(), distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      if (before) this.zoom(distance / before);
      before = distance;
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, (event) => { touches.delete(event.pointerId); before = 0; });
  }

  drag() {
    const place = this.scroll;
    let from = null;
    place.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && !event.target.closest(".node")) from = [event.clientX + place.scrollLeft, event.clientY + place.scrollTop]; });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      place.classList.add("dragging");
      place.scrollLeft = from[0] - event.clientX;
      place.scrollTop = from[1] - event.clientY;
    });
    addEventListener("pointerup", () => { from = null; place.classList.remove("dragging"); });
    place.addEventListener("scroll", () => requestAnimationFrame(() => { if (this.waiting.length) this.complete(); this.map(); }), { passive: true });
    this.pinch(place);
    place.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1.1 : 0.9); } }, { passive: false });
  }
}
