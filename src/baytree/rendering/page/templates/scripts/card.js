// The calculator of a scorecard: the points of the chosen bins, added up, and the probability that follows from them.
function addUpPoints() {
  const sum = document.getElementById("card-sum"), { start, perPoint, shift } = sum.dataset;
  const update = () => {
    const chosen = [...document.querySelectorAll("#card-table input:checked")];
    const score = chosen.reduce((total, each) => total + Number(each.dataset.points), Number(start));
    sum.dataset.score = String(score);
    document.getElementById("card-score").textContent = String(score);
    document.getElementById("card-probability").textContent = percent(1 / (1 + Math.exp(-(score * perPoint + Number(shift)))));
  };
  document.getElementById("card-table").addEventListener("change", update);
  update();
}
