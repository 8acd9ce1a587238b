// The tree: cards on branches, laid out anew whenever something opens or closes.
const CARD = { width: 176, height: 66, across: 194, down: 132, margin: 18 };
const FIRST_LEVELS = 4;
const SPREAD = -2; // a row whose branch is not known goes down every one, in shares
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
    this.tried = tree.tried;
    this.penalty = -Infinity;
    this.lit = new Set();
    this.scale = 1;
    this.current = this.nodes[0];
    this.openTo(FIRST_LEVELS);
    this.listen();
    this.draw();
    this.fit();
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
    this.height = deepest * CARD.down + CARD.height + 2 * CARD.margin;
    return order;
  }

  draw() {
    const order = this.layout(), cards = drawn("g");
    this.edges = drawn("g");
    this.labels = drawn("g");
    for (const node of order) cards.append(this.card(node));
    this.svg.replaceChildren(this.edges, this.labels, cards);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.waiting = order;
    this.resize();
  }

  resize() {
    this.svg.setAttribute("width", Math.round(this.width * this.scale));
    this.svg.setAttribute("height", Math.round(this.height * this.scale));
    this.complete();
  }

  // Draws in full what waits for it: all cards of a small tree, of a large one those in sight and about them.
  complete() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroll, isSmall = this.waiting.length <= MAX_FULL, rest = [];
    const from = [scrollLeft - clientWidth, scrollTop - clientHeight], to = [scrollLeft + 2 * clientWidth, scrollTop + 2 * clientHeight];
    for (const node of this.waiting) {
      const x = this.left(node) * this.scale, y = this.top(node) * this.scale;
      const isNear = isSmall || (x < to[0] && x + CARD.across * this.scale > from[0] && y < to[1] && y + CARD.down * this.scale > from[1]);
      if (isNear) this.detail(node);
      else rest.push(node);
    }
    this.waiting = rest;
  }

  left(node) { return CARD.margin + node.x * CARD.across; }
  top(node) { return CARD.margin + node.depth * CARD.down; }

  edge(node, child) {
    const x0 = this.left(node) + CARD.width / 2, y0 = this.top(node) + CARD.height, x1 = this.left(child) + CARD.width / 2, y1 = this.top(child);
    const bend = (y0 + y1 - 26) / 2;
    const thick = 1 + 7 * Math.sqrt(child.weight / (this.nodes[0].weight || 1));
    const line = drawn("path", { class: "edge", d: `M${x0} ${y0}C${x0} ${bend} ${x1} ${bend} ${x1} ${y1 - 26}V${y1}`, "stroke-width": thick.toFixed(2) });
    line.classList.toggle("lit", this.lit.has(child.place));
    return line;
  }

  label(child) {
    const text = this.fitted(plain(child.branch), CARD.width + 6, "12px system-ui"), width = this.ruler.measureText(text).width + 10;
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
    card.append(drawn("rect", { class: "face", width: CARD.width, height: CARD.height, rx: 9 }), drawn("text", { display: "none" }, this.support(node)));
    card.addEventListener("click", () => this.choose(node, true));
    node.card = card;
    return card;
  }

  detail(node) {
    const { card } = node, isSplit = this.isSplit(node), isClosed = isSplit && !this.open.has(node.place);
    if (node !== this.nodes[0]) {
      this.edges.append(this.edge(this.nodes[node.parent], node));
      this.labels.append(this.label(node));
    }
    const name = this.fitted(isSplit ? `${plain(this.columns[node.asked].name)} ?` : this.answer(node), CARD.width - (isClosed ? 58 : 24), "600 13px system-ui");
    const support = this.fitted(this.support(node), CARD.width - 24, "12px system-ui"), more = isClosed ? `+${this.below(node)}` : "";
    card.lastChild.remove();
    card.append(
      drawn("text", { class: "name", x: 12, y: 21 }, `${name} `), // a space, so that lines are also heard apart
      drawn("text", { x: 12, y: 39 }, `${support} `),
    );
    if (isClosed) card.append(drawn("text", { class: "more", x: CARD.width - 12, y: 21, "text-anchor": "end" }, more));
    this.bar(card, node);
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

  extent() {
    this.known ??= [Math.min(...this.nodes.map((node) => node.answer)), Math.max(...this.nodes.map((node) => node.answer))];
    return this.known;
  }

  below(node) {
    let count = 0;
    const waiting = [...node.children];
    while (waiting.length) {
      const next = waiting.pop();
      count++;
      if (this.isSplit(next)) waiting.push(...next.children);
    }
    return count;
  }

  answer(node) { return this.isClasses ? plain(payload.classes[node.prediction]) : short(node.answer); }

  support(node) {
    const rows = `${short(node.rows)} rows`;
    return this.isClasses ? (this.isSplit(node) ? `${rows} \u00b7 ${percent(node.answer)} ${this.answer(node)}` : `${rows} \u00b7 ${percent(node.answer)}`) : (this.isSplit(node) ? `${rows} \u00b7 mean ${short(node.answer)}` : rows);
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
    this.scale = Math.min(2, Math.max(0.15, this.scale * factor));
    this.resize();
  }

  fit() {
    this.scale = Math.min(1, Math.max(0.55, (this.scroll.clientWidth - 4) / this.width));
    this.resize();
    this.scroll.scrollLeft = (this.scroll.scrollWidth - this.scroll.clientWidth) / 2;
  }

  prune(step) {
    const [cp, leaves, risk, error] = this.path[step];
    this.penalty = cp;
    const tried = error === undefined || error === null ? "" : `, ${error.toFixed(3)} ${this.tried}`;
    document.getElementById("tree-size").textContent = `${leaves} ${leaves === 1 ? "leaf" : "leaves"}. ${this.isClasses ? "Error" : "Squared error"} relative to the root: ${risk.toFixed(3)}${tried}`;
    this.draw();
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
    this.told.textContent = this.sought ? `${found.length} ${found.length === 1 ? "card tests" : "cards test"} such a column.` : "";
  }

  listen() {
    const on = (id, event, work) => document.getElementById(id)?.addEventListener(event, work);
    on("tree-all", "click", () => { clearInterval(this.timer); this.openTo(Infinity); this.draw(); });
    on("tree-less", "click", () => { clearInterval(this.timer); this.openTo(FIRST_LEVELS); this.draw(); this.fit(); });
    on("tree-grow", "click", () => this.grow());
    on("tree-in", "click", () => this.zoom(1.25));
    on("tree-out", "click", () => this.zoom(0.8));
    on("tree-fit", "click", () => this.fit());
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
    place.addEventListener("scroll", () => { if (this.waiting.length) requestAnimationFrame(() => this.complete()); }, { passive: true });
    place.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1.1 : 0.9); } }, { passive: false });
  }
}
