// What is on this page is set going; sections that are not there are passed over.
const here = (id) => document.getElementById(id) !== null;
document.querySelectorAll("table[data-sortable]").forEach(sortable);
const tree = here("tree-drawing") ? new TreeDrawing(payload.tree) : null;
const boundary = here("boundary-drawing") ? new Boundary(payload.boundary) : null;
if (here("whatif-form")) {
  new WhatIf((row) => {
    if (tree) tree.light(row);
    if (boundary) boundary.show(row);
  });
}
if (here("ask-question")) new Questions();
