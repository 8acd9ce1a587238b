// What is on this page is set going; sections that are not there are passed over.
const here = (id) => document.getElementById(id) !== null;
document.querySelectorAll("table[data-sortable]").forEach(sortable);
document.querySelectorAll("details").forEach((each) => {
  const content = each.querySelector(".opened"); // out of the way of the Tab key while it is closed
  content.hidden = !each.open;
  each.addEventListener("toggle", () => { content.hidden = !each.open; });
});
const tree = here("tree-drawing") ? new TreeDrawing(payload.tree) : null;
const boundary = here("boundary-drawing") ? new Boundary(payload.boundary) : null;
if (here("whatif-form")) {
  new WhatIf((row) => {
    if (tree) tree.light(row);
    if (boundary) boundary.show(row);
  });
}
if (here("ask-question")) new Questions();
