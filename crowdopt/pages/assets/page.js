"use strict";
const key = (cell) => (cell === undefined || cell.textContent === "" ? null : cell.dataset.v ?? cell.textContent);
const compare = (a, b) => {
  if (a === null || b === null) return (a === null) - (b === null); // empty cells stay at the end
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
};
document.querySelectorAll("th button").forEach((button) => {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const place = [...head.parentNode.children].indexOf(head);
    const body = head.closest("table").tBodies[0];
    const falling = head.getAttribute("aria-sort") === "ascending";
    head.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [key(row.cells[place]), row]);
    rows.sort(([a], [b]) => (a === null || b === null || !falling ? compare(a, b) : compare(b, a)));
    body.append(...rows.map(([, row]) => row));
  });
});
