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

const told = document.getElementById("stories");
if (told) tell(JSON.parse(told.textContent), document.getElementById("story"), document.getElementById("ask"));

/* The story of one thing: its figures, and those it is tied to, each of which leads to a story of its own. */
function tell(known, story, form) {
  const [first, second] = known.kinds;
  const back = known.names[second].map(() => []);
  known.tied.forEach((others, k) => others.forEach((other) => back[other].push(k)));
  const tied = { [first]: known.tied, [second]: back };
  const other = { [first]: second, [second]: first };
  const place = Object.fromEntries(known.kinds.map((kind) => [kind, new Map(known.names[kind].map((name, k) => [name, k]))]));
  const make = (tag, text, inside = []) => {
    const element = document.createElement(tag);
    element.textContent = text;
    element.append(...inside);
    return element;
  };
  const lead = (kind, name) => {
    const link = make("a", name);
    link.href = `#${kind}=${encodeURIComponent(name)}`;
    return link;
  };
  const figure = (kind, key, k) => { const column = known.columns[kind][key]; return Array.isArray(column) ? column[k] : column; };
  const figures = (kind) => Object.entries(known.heads[kind]);

  function show(kind, name) {
    const k = place[kind].get(name);
    if (k === undefined) {
      story.replaceChildren(make("p", `There is no ${kind} ${name} in this plan.`));
      return;
    }
    const facts = make("dl", "");
    figures(kind).forEach(([key, head]) => { if (figure(kind, key, k) !== null) facts.append(make("dt", head), make("dd", figure(kind, key, k))); });
    const [goal, ends] = [other[kind], tied[kind][k]];
    const heads = [goal, ...figures(goal).map(([, head]) => head)].map((head) => make("th", head));
    heads.forEach((head) => { head.scope = "col"; });
    const rows = ends.map((end) => make("tr", "", [
      make("td", "", [lead(goal, known.names[goal][end])]),
      ...figures(goal).map(([key]) => { const cell = make("td", figure(goal, key, end) ?? ""); cell.className = "n"; return cell; }),
    ]));
    const table = make("table", "", [make("thead", "", [make("tr", "", heads)]), make("tbody", "", rows)]);
    const wide = make("div", "", [table]);
    wide.className = "wide";
    wide.tabIndex = 0;
    const count = `${ends.length} ${goal}${ends.length === 1 ? "" : "s"}`;
    story.replaceChildren(make("h3", `${kind} ${name}`), facts, make("p", ends.length ? `${count}. ${known.why[kind]}` : `No ${goal}.`));
    if (ends.length) story.append(wide);
  }

  function follow() {
    const [kind, name] = location.hash.slice(1).split(/=(.*)/s);
    if (!known.kinds.includes(kind) || name === undefined) return;
    show(kind, decodeURIComponent(name));
    story.scrollIntoView({ block: "nearest" });
  }
  addEventListener("hashchange", follow);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = form.elements.asked.value.trim();
    const kind = known.kinds.find((one) => place[one].has(name)) ?? first;
    location.hash = `${kind}=${encodeURIComponent(name)}`;
    follow();
  });
  form.elements.asked.addEventListener("input", (event) => {
    const typed = event.target.value.trim();
    const near = typed ? known.kinds.flatMap((kind) => known.names[kind].filter((name) => name.startsWith(typed)).slice(0, 10)) : [];
    document.getElementById("known").replaceChildren(...near.map((name) => { const option = make("option", ""); option.value = name; return option; }));
  });
  follow();
}
