// The answers over two columns, all others as in "What if".
const BOX = { left: 64, top: 8, width: 404, height: 300, steps: 40 };

class Boundary {
  constructor(places) {
    this.places = places;
    this.svg = document.getElementById("boundary-drawing");
    this.across = document.getElementById("boundary-x");
    this.up = document.getElementById("boundary-y");
    for (const menu of [this.across, this.up]) menu.addEventListener("change", () => this.draw());
    legend(document.getElementById("boundary-legend"), payload.classes);
  }

  show(row) { this.row = row; this.draw(); }

  values(column) {
    if (column.levels) return column.point.map((code) => column.levels[code]);
    const extent = column.most - column.least;
    return Array.from({ length: BOX.steps }, (_, k) => column.least + extent * (k + 0.5) / BOX.steps);
  }

  draw() {
    const x = payload.columns[this.places[this.across.value]], y = payload.columns[this.places[this.up.value]];
    const xs = this.values(x), ys = this.values(y), w = BOX.width / xs.length, h = BOX.height / ys.length, cells = [], row = Object.create(null);
    for (const { name } of payload.columns) row[name] = this.row[name];
    ys.forEach((b, j) => {
      let run = null;
      xs.forEach((a, i) => {
        row[x.name] = a;
        row[y.name] = b;
        const p = shares(row), best = payload.classes.indexOf(model.predict(row)), sure = Math.round(10 * (0.15 + 0.7 * p[best])) / 10;
        if (run && run.best === best && run.sure === sure) { run.n++; return; }
        run = { best, sure, i, j, n: 1 };
        cells.push(run);
      });
    });
    this.svg.replaceChildren(...cells.map(({ best, sure, i, j, n }) => {
      const cell = drawn("rect", { class: `cell ${coloured(best)}`, x: (BOX.left + w * i).toFixed(1), y: (BOX.top + BOX.height - h * (j + 1)).toFixed(1), width: (w * n + 0.4).toFixed(1), height: (h + 0.4).toFixed(1), opacity: sure });
      cell.style.fill = "var(--k)";
      return cell;
    }), ...this.axis(x, false), ...this.axis(y, true), ...this.here(x, y));
  }

  at(column, value) {
    if (value === null || value === undefined) return null;
    if (column.levels) { const k = column.point.findIndex((code) => column.levels[code] === value); return k < 0 ? null : (k + 0.5) / column.point.length; }
    const part = (value - column.least) / (column.most - column.least || 1);
    return part >= 0 && part <= 1 ? part : null;
  }

  here(x, y) {
    const a = this.at(x, this.row[x.name]), b = this.at(y, this.row[y.name]);
    return a === null || b === null ? [] : [drawn("circle", { cx: BOX.left + BOX.width * a, cy: BOX.top + BOX.height * (1 - b), r: 6 })];
  }

  axis(column, isUp) {
    const ticks = column.levels ? column.point.slice(0, 12).map((code, k) => [(k + 0.5) / column.point.length, named(column.levels[code], isUp ? 9 : 12)])
      : [0, 0.5, 1].map((part) => [part, shownIn(column, Number((column.least + (column.most - column.least) * part).toPrecision(4)))]);
    const texts = ticks.map(([part, text], k) => (isUp
      ? drawn("text", { x: BOX.left - 8, y: BOX.top + BOX.height * (1 - part) + (column.levels ? 4 : [0, 4, 9][k]), "text-anchor": "end" }, text)
      : drawn("text", { x: BOX.left + BOX.width * part, y: BOX.top + BOX.height + 18, "text-anchor": column.levels ? "middle" : ["start", "middle", "end"][k] }, text)));
    const name = isUp ? { x: 12, y: BOX.top + BOX.height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${BOX.top + BOX.height / 2})` } : { x: BOX.left + BOX.width / 2, y: BOX.top + BOX.height + 40, "text-anchor": "middle" };
    return [...texts, drawn("text", name, named(column.name, 40))];
  }
}
