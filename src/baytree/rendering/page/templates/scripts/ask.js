// Twenty questions, as baytree/interview/belief.py asks them: the same imagined rows, the same expected gains.
class Interview {
  constructor() {
    Object.assign(this, payload.ask);
    this.answers = [];
    this.imagine();
  }

  imagine() {
    const n = this.imagined, classes = payload.classes.length;
    this.factor = new Array(classes).fill(1);
    if (this.hasLikelihoods) {
      this.rows = [Object.create(null)];
      for (const { name } of payload.columns) this.rows[0][name] = null;
      this.labels = [0];
      this.weight = [1];
    } else {
      const total = this.prior.reduce((a, b) => a + b, 0);
      this.labels = Array.from({ length: n }, (_, s) => { let c = 0, reached = this.prior[0]; while (c < classes - 1 && reached / total < (s + 0.5) / n) reached += this.prior[++c]; return c; });
      this.weight = new Array(n).fill(1 / n);
      this.rows = this.labels.map(() => Object.create(null));
      payload.columns.forEach((_, j) => this.draw(j, 0, null));
    }
    for (const { column, value } of this.answers) this.learn(column, value);
    this.known = this.rows.map((row) => this.answered(row));
  }

  draw(j, turn, among) {
    const cells = payload.columns[j], n = this.rows.length;
    if (!cells.point || !cells.point.length) { for (const row of this.rows) row[cells.name] = null; return; }
    this.rows.forEach((row, s) => {
      const label = this.labels[s], chance = uniform((turn * n + s) * payload.columns.length + j);
      const share = cells.share.map((each, v) => (among && !among[v] ? 0 : each[label] + (among ? Number.MIN_VALUE : 0)));
      const total = share.reduce((a, b) => a + b, 0);
      let v = 0, reached = share[0];
      while (v < share.length - 1 && reached / total <= chance) reached += share[++v];
      row[cells.name] = this.value(cells, v);
    });
  }

  value(cells, v) { return cells.levels ? cells.levels[cells.point[v]] : cells.point[v]; }

  learn(j, value) {
    const cells = payload.columns[j];
    if (Array.isArray(value)) {
      const among = this.within(cells, value), share = payload.classes.map((_, c) => cells.share.reduce((sum, each, v) => sum + (among[v] ? each[c] : 0), 0));
      if (this.hasLikelihoods) { this.factor = this.factor.map((f, c) => f * share[c]); return; }
      this.weigh(share);
      this.draw(j, 1 + j, among);
      const [low, high] = value;
      for (const row of this.rows) row[cells.name] = Math.min(high ?? Infinity, low === null ? row[cells.name] : Math.max(row[cells.name], low + Math.abs(low) * 3e-16 + 5e-324));
      return;
    }
    for (const row of this.rows) row[cells.name] = value;
    const place = value === null ? -1 : this.place(cells, value);
    if (place >= 0 && !this.hasLikelihoods) this.weigh(cells.share[place]);
  }

  within(cells, [low, high]) { return cells.point.map((_, v) => (cells.high[v] ?? Infinity) > (low ?? -Infinity) && (cells.low[v] ?? -Infinity) < (high ?? Infinity)); }

  place(cells, value) {
    if (cells.levels) return cells.point.findIndex((code) => cells.levels[code] === value);
    let v = 0;
    while (v < cells.point.length - 1 && value > cells.high[v]) v++;
    return v;
  }

  weigh(share) {
    const weight = this.weight.map((w, s) => w * share[this.labels[s]]), total = weight.reduce((a, b) => a + b, 0);
    if (total > 0) this.weight = weight.map((w) => w / total);
  }

  answered(row) {
    const p = shares(row).map((each, c) => each * this.factor[c]), total = p.reduce((a, b) => a + b, 0);
    return total > 0 ? p.map((each) => each / total) : p.map(() => 1 / p.length);
  }

  get belief() {
    const sum = payload.classes.map(() => 0);
    let total = 0;
    this.known.forEach((p, s) => { total += this.weight[s]; p.forEach((each, c) => { sum[c] += this.weight[s] * each; }); });
    return sum.map((each) => each / total);
  }

  get choice() {
    const first = model.predict(this.rows[0]), belief = this.belief;
    if (this.factor.every((f) => f === 1) && this.rows.every((row) => model.predict(row) === first)) return first;
    return decided(belief);
  }

  // Expected gain in bits of a column whose value lies in these cells, and which cells the model takes alike.
  ask(j, among) {
    const cells = payload.columns[j], places = cells.point.map((_, v) => v).filter((v) => among[v]), after = [], chance = [], alike = [];
    let before = null;
    for (const v of places) {
      const value = this.value(cells, v), sum = payload.classes.map(() => 0);
      let total = 0, difference = 0;
      const answers = this.rows.map((row, s) => {
        const kept = row[cells.name];
        row[cells.name] = value;
        const p = this.answered(row);
        row[cells.name] = kept;
        const weight = this.hasLikelihoods ? cells.share[v].reduce((a, each, c) => a + each * this.known[0][c], 0) : this.weight[s] * cells.share[v][this.labels[s]];
        total += weight;
        p.forEach((each, c) => { sum[c] += weight * each; if (before) difference = Math.max(difference, Math.abs(each - before[s][c])); });
        return p;
      });
      if (before) alike.push(difference <= 1e-12);
      before = answers;
      chance.push(total);
      after.push(sum.map((each) => each / Math.max(total, 1e-300)));
    }
    const all = chance.reduce((a, b) => a + b, 0) || 1, mean = payload.classes.map((_, c) => after.reduce((sum, p, k) => sum + chance[k] / all * p[c], 0));
    const gain = entropy(mean) - after.reduce((sum, p, k) => sum + chance[k] / all * entropy(p), 0);
    return { gain: Math.min(Math.max(gain, 0), entropy(this.belief)), alike, places };
  }

  open(j) {
    const cells = payload.columns[j], given = this.answers.find(({ column }) => column === j);
    if (!cells.point || !cells.point.length) return [];
    if (!given) return cells.point.map(() => true);
    return Array.isArray(given.value) && cells.isCut ? this.within(cells, given.value) : [];
  }

  // The columns that the model prescribes as the next question; none where any may be asked for.
  questions() { return []; }

  next(sure) {
    if (Math.max(...this.belief) >= sure) return null;
    const among = payload.columns.map((_, j) => this.open(j)), isOpen = (j) => among[j].filter(Boolean).length > 1;
    const path = this.questions().filter(isOpen);
    let best = null;
    for (const j of path.length ? path : payload.columns.keys()) {
      if (!isOpen(j)) continue;
      const asked = this.ask(j, among[j]);
      if (!best || asked.gain > best.gain) best = { ...asked, column: j };
    }
    return best && (path.length || best.gain >= 1e-9) ? { ...best, choices: this.choices(best) } : null;
  }

  choices({ column, alike, places }) {
    const cells = payload.columns[column];
    if (cells.levels) return this.offered(cells).map((v) => ({ value: cells.levels[cells.point[v]] }));
    const n = places.length, isEdge = (k) => (cells.isCut ? !alike[k] : Math.floor((k + 1) * 4 / n) > Math.floor(k * 4 / n));
    const found = [];
    places.forEach((v, k) => {
      if (k === 0 || isEdge(k - 1)) found.push({ low: cells.low[v], high: cells.high[v] });
      found[found.length - 1].high = cells.high[v];
    });
    return found;
  }

  // The most frequent levels, in the order of their codes.
  offered(cells) {
    const total = cells.share.map((each) => each.reduce((a, b) => a + b, 0));
    return total.map((_, v) => v).sort((a, b) => total[b] - total[a] || a - b).slice(0, 24).sort((a, b) => a - b);
  }

  answer(column, value) {
    this.answers = this.answers.filter((each) => each.column !== column).concat({ column, value });
    this.imagine();
  }

  undo() { this.answers.pop(); this.imagine(); }
}

// A single tree, as baytree/interview/tree_posterior.py asks it: the leaves that are still possible, by the tree's own counts.
// Cells that a path allows are [start, stop] of intervals, or a list of booleans of levels.
class TreeInterview extends Interview {
  imagine() {
    const total = this.prior.reduce((a, b) => a + b, 0);
    this.frequency = payload.columns.map(({ share }) => (share || []).map((each) => each.reduce((sum, p, c) => sum + p * this.prior[c] / total, 0)));
    this.given = new Map(this.answers.map(({ column, value }) => [column, value === null ? null : this.cellsOf(column, value)]));
    this.leaves = this.possible();
  }

  cellsOf(j, value) {
    const cells = payload.columns[j];
    if (cells.levels) return cells.point.map((code) => cells.levels[code] === value);
    if (!Array.isArray(value)) { const v = this.place(cells, value); return [v, v + 1]; }
    const inside = this.within(cells, value), first = inside.indexOf(true);
    return [first, inside.lastIndexOf(true) + 1];
  }

  leads(test, branch) {
    if (test.branches) return payload.columns[test.column].point.map((code) => test.branches[code] === branch);
    const span = test.spans.find(([each]) => each === branch);
    return span ? [span[1], span[2]] : [0, 0];
  }

  both(j, one, other) {
    if (payload.columns[j].levels) return one.map((each, v) => each && other[v]);
    const start = Math.max(one[0], other[0]);
    return [start, Math.max(start, Math.min(one[1], other[1]))];
  }

  each(j, allowed, use) {
    if (payload.columns[j].levels) allowed.forEach((is, v) => { if (is) use(v); });
    else for (let v = allowed[0]; v < allowed[1]; v++) use(v);
  }

  all(j) { const cells = payload.columns[j]; return cells.levels ? cells.point.map(() => true) : [0, cells.point.length]; }

  total(j, allowed) { let sum = 0; this.each(j, allowed, (v) => { sum += this.frequency[j][v]; }); return sum; }

  // The test that decides, or will once its column is answered, and the branches that are still possible.
  route(node, allowed) {
    for (const test of node.tests || []) {
      const given = this.given.get(test.column);
      if (given === null) continue;
      const inside = given || allowed[test.column], known = test.branches || test.spans.map(([branch]) => branch);
      let branches = [...new Set(known)].filter((branch) => branch >= 0).sort((a, b) => a - b);
      if (inside) branches = branches.filter((branch) => this.total(test.column, this.both(test.column, this.leads(test, branch), inside)) > 0);
      if (!given && node.missing >= 0 && !known.includes(node.missing)) branches.push(node.missing);
      if (branches.length) return { test, branches };
    }
    if (!node.tests || node.missing === -1) return { branches: [] };
    return { branches: node.missing === -2 ? node.shares.map((_, branch) => branch) : [node.missing] };
  }

  possible() {
    const { nodes, reach } = this.tree, found = [], waiting = [{ node: 0, weight: 1, allowed: {} }];
    while (waiting.length) {
      const leaf = waiting.pop(), node = nodes[leaf.node], { test, branches } = this.route(node, leaf.allowed), here = Math.max(reach[leaf.node], 1e-300);
      if (!branches.length) { found.push(leaf); continue; }
      if (!test) { for (const branch of branches) waiting.push({ node: node.first + branch, weight: leaf.weight * (node.missing === -2 ? node.shares[branch] : 1), allowed: leaf.allowed }); continue; }
      for (const branch of branches) {
        const leads = this.leads(test, branch), above = leaf.allowed[test.column], child = node.first + branch;
        const allowed = { ...leaf.allowed, [test.column]: above ? this.both(test.column, leads, above) : leads };
        waiting.push({ node: child, weight: leaf.weight * Math.max(reach[child] / here, 1e-12), allowed });
      }
      if (node.missing === -1 && !this.given.has(test.column)) {
        const n = 1 + Math.max(...node.tests.flatMap((each) => each.branches || each.spans.map(([branch]) => branch)));
        const rest = 1 - reach.slice(node.first, node.first + n).reduce((a, b) => a + b, 0) / here;
        if (rest > 1e-9) found.push({ node: leaf.node, weight: leaf.weight * rest, allowed: { ...leaf.allowed, [test.column]: this.leads(test, n) } });
      }
    }
    for (const leaf of found) {
      for (const [j, given] of this.given) {
        if (given === null) continue;
        const allowed = leaf.allowed[j] || this.all(j), total = this.total(j, allowed);
        leaf.weight *= total > 0 ? this.total(j, this.both(j, allowed, given)) / total : 0;
      }
    }
    const possible = found.filter(({ weight }) => weight > 0);
    return possible.length ? possible : found.slice(0, 1);
  }

  // The tests of the first nodes whose branch the answers do not decide.
  undecided() {
    const found = [], waiting = [0];
    while (waiting.length) {
      const node = this.tree.nodes[waiting.pop()], { test, branches } = this.route(node, {});
      if (test && branches.length > 1) found.push(test);
      else for (const branch of branches) waiting.push(node.first + branch);
    }
    return found;
  }

  questions() {
    const first = this.tree.value[this.leaves[0].node];
    const isAlike = this.leaves.every(({ node }) => this.tree.value[node].every((p, c) => Math.abs(p - first[c]) <= 1e-12));
    return isAlike ? [] : [...new Set(this.undecided().map(({ column }) => column))].sort((a, b) => a - b);
  }

  get belief() {
    if (!this.undecided().length) return shares(this.row({ allowed: {} }));
    const sum = payload.classes.map(() => 0), total = this.leaves.reduce((a, { weight }) => a + weight, 0);
    for (const { node, weight } of this.leaves) this.tree.value[node].forEach((p, c) => { sum[c] += weight * p / total; });
    return sum;
  }

  get choice() {
    const leaves = this.undecided().length ? this.leaves : [{ allowed: {} }], predicted = new Set(leaves.map((leaf) => model.predict(this.row(leaf)))), belief = this.belief;
    return predicted.size === 1 ? [...predicted][0] : decided(belief);
  }

  // The answers as a row; a value that the path of a leaf allows where there is none, else missing.
  row(leaf) {
    const row = Object.create(null);
    payload.columns.forEach((cells, j) => {
      const answer = this.answers.find(({ column }) => column === j), value = answer ? answer.value : null, inside = leaf.allowed[j];
      row[cells.name] = value;
      if (answer && !Array.isArray(value)) return;
      const given = answer ? this.given.get(j) : null, allowed = given ? (inside ? this.both(j, given, inside) : given) : inside;
      let first = null;
      if (allowed) this.each(j, allowed, (v) => { first ??= v; });
      row[cells.name] = first === null ? null : this.value(cells, first);
      if (given && first !== null) { const [low, high] = value; row[cells.name] = Math.min(high ?? Infinity, low === null ? row[cells.name] : Math.max(row[cells.name], low + Math.abs(low) * 3e-16 + 5e-324)); }
    });
    return row;
  }

  ask(j, among) {
    const frequency = this.frequency[j].map((each, v) => (among[v] ? each : 0)), mass = among.map(() => payload.classes.map(() => 0)), edges = new Set();
    let known = 0;
    for (const { node, weight, allowed } of this.leaves) {
      const inside = allowed[j] || this.all(j);
      let total = 0;
      this.each(j, inside, (v) => { total += frequency[v]; });
      if (total <= 0) continue;
      known += weight;
      this.each(j, inside, (v) => { this.tree.value[node].forEach((p, c) => { mass[v][c] += weight / total * frequency[v] * p; }); });
      if (!payload.columns[j].levels) inside.forEach((v) => edges.add(v));
    }
    const places = among.map((_, v) => v).filter((v) => among[v]);
    if (places.slice(1).filter((v) => edges.has(v)).length >= 8) {
      edges.clear();
      for (const { column, spans } of this.undecided()) if (column === j) for (const [, start, stop] of spans) edges.add(start).add(stop);
    }
    const chance = places.map((v) => mass[v].reduce((a, b) => a + b, 0)), all = chance.reduce((a, b) => a + b, 0) || 1;
    const mean = payload.classes.map((_, c) => places.reduce((sum, v) => sum + mass[v][c] / all, 0));
    const left = places.reduce((sum, v, k) => (chance[k] > 0 ? sum + chance[k] / all * entropy(mass[v].map((each) => each / chance[k])) : sum), 0);
    const gain = Math.max(entropy(mean) - left, 0) * known / this.leaves.reduce((a, { weight }) => a + weight, 0);
    return { gain, alike: places.slice(1).map((v) => !edges.has(v)), places };
  }
}

function entropy(p) { return p.reduce((sum, each) => (each > 0 ? sum - each * Math.log2(each) : sum), 0); }

function uniform(place) {
  let x = Math.imul(place + 1, 0x9e3779b1) >>> 0;
  for (const [shift, factor] of [[16, 0x85ebca6b], [13, 0xc2b2ae35]]) x = Math.imul(x ^ (x >>> shift), factor) >>> 0;
  return ((x ^ (x >>> 16)) >>> 0) / 4294967296;
}

class Questions {
  constructor() {
    this.part = Object.fromEntries(["question", "answer", "gain", "choices", "exact", "number", "unknown", "undo", "restart", "sure", "bars", "log"].map((name) => [name, document.getElementById(`ask-${name}`)]));
    this.beliefs = new Beliefs(this.part.bars, payload.classes, "");
    this.part.unknown.addEventListener("click", () => this.reply(null));
    this.part.undo.addEventListener("click", () => { this.talk.undo(); this.show(); });
    this.part.restart.addEventListener("click", () => this.restart());
    this.part.sure.addEventListener("change", () => this.show());
    this.part.number.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || this.part.number.value === "") return;
      event.preventDefault();
      this.reply(Number(this.part.number.value));
    });
    this.restart();
  }

  restart() { this.talk = payload.ask.tree ? new TreeInterview() : new Interview(); this.show(); }

  reply(value) {
    if (!this.asked) return;
    this.talk.answer(this.asked.column, value);
    this.show();
    (this.asked ? this.part.question : this.part.answer).focus({ preventScroll: true });
  }

  show() {
    const { part, talk } = this;
    this.asked = talk.next(Number(part.sure.value));
    this.beliefs.show(talk.belief);
    part.undo.disabled = !talk.answers.length;
    part.unknown.disabled = !this.asked;
    part.question.hidden = !this.asked;
    part.answer.hidden = Boolean(this.asked);
    part.log.replaceChildren(...talk.answers.map(({ column, value }) => element("li", {}, `${named(payload.columns[column].name, 60)}: ${value === null ? "not known" : named(Array.isArray(value) ? interval(...value) : typeof value === "number" ? short(value) : value, 60)}`)));
    if (this.asked) this.put();
    else this.settle();
  }

  put() {
    const { part, asked } = this, column = payload.columns[asked.column];
    part.question.dataset.column = column.name;
    part.question.textContent = `What is ${named(column.name)}?`;
    part.gain.textContent = `expected information: ${asked.gain < 0.01 ? asked.gain.toPrecision(1) : asked.gain.toFixed(2)} bits`;
    part.exact.hidden = Boolean(column.levels) || column.isCut || Boolean(column.unit);
    part.number.value = "";
    part.choices.replaceChildren(...asked.choices.map((choice) => this.button(column, choice)));
  }

  button(column, choice) {
    const hooks = column.levels ? { "data-value": choice.value } : { "data-low": choice.low ?? "", "data-high": choice.high ?? "" };
    const text = column.levels ? named(choice.value, 60) : this.range(column, choice);
    const made = element("button", { type: "button", "data-testid": "choice", ...hooks }, text);
    made.addEventListener("click", () => this.reply(column.levels ? choice.value : [choice.low, choice.high]));
    return made;
  }

  range(column, { low, high }) {
    if (!column.unit) return interval(low, high);
    return low === null ? `until ${shownIn(column, high)}` : high === null ? `after ${shownIn(column, low)}` : `${shownIn(column, low)} to ${shownIn(column, high)}`;
  }

  settle() {
    const { part, talk } = this, answer = talk.choice, belief = talk.belief;
    part.answer.dataset.class = answer;
    part.answer.textContent = `${named(payload.target)}: ${named(answer)}`;
    const n = talk.answers.length;
    part.gain.textContent = `probability ${percent(belief[payload.classes.indexOf(answer)])} after ${n} ${n === 1 ? "question" : "questions"}`;
    part.choices.replaceChildren();
    part.exact.hidden = true;
  }
}
