// What is on this page is set going; sections that are not there are passed over.
const here = (id) => document.getElementById(id) !== null;

function sortTables() {
  document.querySelectorAll("table[data-sortable]").forEach(sortable);
}

function start(place) {
  [payload, model] = [payloads[place], models[place]];
  sortTables();
  tree = here("tree-drawing") ? new TreeDrawing(payload.tree) : null;
  boundary = here("boundary-drawing") ? new Boundary(payload.boundary) : null;
  if (here("whatif-form")) {
    new WhatIf((row) => {
      if (tree) tree.light(row);
      if (boundary) boundary.show(row);
    });
  }
  if (here("ask-question")) new Questions();
  if (here("card-sum")) addUpPoints();
}

// The whole of one model of a comparison, in place of the one that was open before.
function show(opened) {
  if (tree) clearInterval(tree.timer);
  for (const other of document.querySelectorAll(".whole")) {
    if (other === opened) continue;
    other.replaceChildren();
    other.closest("details").open = false;
  }
  const { place } = opened.dataset;
  opened.replaceChildren(document.querySelector(`template[data-place="${place}"]`).content.cloneNode(true));
  start(Number(place));
}

document.querySelectorAll("details").forEach((each) => {
  const content = each.querySelector(".opened"); // out of the way of the Tab key while it is closed
  content.hidden = !each.open;
  each.addEventListener("toggle", () => {
    content.hidden = !each.open;
    const whole = content.querySelector(".whole");
    if (whole && each.open) show(whole);
    else if (whole) whole.replaceChildren();
  });
});
if (!payloads.length) sortTables();
else if (!document.querySelector("template")) start(0);
