// Tables that can be sorted by a column: the largest first, then the other way round.
function sortable(table) {
  const body = table.tBodies[0];
  table.querySelectorAll("button.sort").forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th"), place = [...head.parentNode.children].indexOf(head), isDown = head.getAttribute("aria-sort") !== "descending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const key = (row) => row.cells[place].dataset.sort ?? row.cells[place].textContent;
    const compare = (a, b) => (isNaN(key(a)) ? key(a).localeCompare(key(b)) : key(a) - key(b));
    body.append(...[...body.rows].sort((a, b) => (isDown ? compare(b, a) : compare(a, b))));
  }));
}
