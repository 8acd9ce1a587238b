// Probabilities as bars: made once, then only moved.
class Beliefs {
  constructor(place, classes, testid) {
    this.lines = classes.map((name, k) => {
      const number = element("span", testid ? { class: "num", "data-testid": testid, "data-class": name, "data-value": "" } : { class: "num" });
      const rail = element("span");
      const label = element("span", {}, named(name));
      place.append(element("div", { class: `belief ${coloured(k)}` }, label, number, element("div", { class: "rail" }, rail)));
      return { label, number, rail };
    });
  }

  show(shares) {
    const best = shares.indexOf(Math.max(...shares));
    this.lines.forEach(({ label, number, rail }, k) => {
      if ("value" in number.dataset) number.dataset.value = String(shares[k]);
      number.textContent = percent(shares[k]);
      rail.style.width = `${100 * shares[k]}%`;
      label.classList.toggle("best", k === best);
    });
  }
}

// The class to predict by these probabilities: the most probable one, or the one of least expected cost; the first on ties.
function decided(belief) {
  const cost = payload.costs && belief.map((_, j) => belief.reduce((sum, p, i) => sum + p * payload.costs[i][j], 0));
  return payload.classes[cost ? cost.indexOf(Math.min(...cost)) : belief.indexOf(Math.max(...belief))];
}

function shares(row) {
  const answer = model.predictProba(row);
  return payload.classes.map((name) => answer[name]);
}
