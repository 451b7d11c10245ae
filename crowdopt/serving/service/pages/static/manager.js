"use strict";
const at = (id) => document.getElementById(id);
const ROWS = Number(document.querySelector("main").dataset.rows);
let token = location.hash.slice(1) || sessionStorage.getItem("manager") || "";
let least = null; // what no policy can beat
history.replaceState(null, "", location.pathname);

async function get(path, body) {
  const given = { headers: { Authorization: "Bearer " + token } };
  if (body !== undefined) {
    given.method = "POST";
    given.headers["Content-Type"] = "application/json";
    given.body = JSON.stringify(body);
  }
  const answer = await fetch(path, given);
  if (!answer.ok) throw Object.assign(new Error((await answer.json()).error), { status: answer.status });
  return answer;
}

const number = (value, digits) => (value === null || value === undefined ? "–" : Number(value).toFixed(digits));

function row(cells) {
  const line = document.createElement("tr");
  for (const cell of cells) {
    const place = document.createElement("td");
    place.append(cell);
    line.append(place);
  }
  return line;
}

function fact(name, value, share) {
  const box = document.createElement("div");
  const what = document.createElement("dt");
  const much = document.createElement("dd");
  what.textContent = name;
  much.textContent = value;
  box.append(what, much);
  if (share !== undefined && share !== null) {
    const meter = document.createElement("meter");
    meter.value = share;
    meter.setAttribute("aria-label", name);
    much.append(meter);
  }
  return box;
}

async function look() {
  const [now, answers, looks, workers, events] = await Promise.all(
    ["/api/progress", "/api/answers", "/api/looks", "/api/workers", "/api/events"].map(async (path) => (await get(path)).json()),
  );
  const sure = now.unsure === null ? null : now.tasks - now.unsure;
  at("numbers").replaceChildren(
    fact("labels", now.labels),
    fact("paid", now.money === null ? number(now.paid, 2) : number(now.paid, 2) + " of " + number(now.money, 2), now.money ? now.paid / now.money : null),
    fact("tasks sure", sure === null ? "–" : sure + " of " + now.tasks, sure === null ? null : sure / Math.max(1, now.tasks)),
    fact("mean chance of a wrong answer", number(now.claimed_error, 4)),
    fact("workers", now.workers),
    fact("out now", now.out),
    fact("late labels", now.late),
    fact("state", now.paused ? "paused" : "running"),
  );
  if (least !== null) at("numbers").append(fact("no policy pays less than", number(least, 2), Math.min(1, now.paid / least)));
  at("notes").replaceChildren(...now.notes.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  answers.sort((a, b) => (b.claim ?? 0) - (a.claim ?? 0));
  at("tasks").replaceChildren(...answers.slice(0, ROWS).map((one) => row([one.task, (one.answer || "–") + (one.looked ? " (expert)" : ""), number(one.claim, 3), one.labels])));
  at("expert").hidden = !looks.length;
  at("looks").replaceChildren(...looks.reverse().slice(0, ROWS).map((one) => row([one.task, one.answer || "–", one.label || "–", one.status, number(one.paid, 2)])));
  workers.sort((a, b) => b.labels - a.labels);
  at("workers").replaceChildren(...workers.slice(0, ROWS).map((one) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Remove";
    button.setAttribute("aria-label", "Remove " + one.worker);
    button.disabled = one.status === "removed";
    button.addEventListener("click", () => act("/api/remove", { worker: one.worker }));
    const range = (k) => (one.skill_range === null ? "" : " (" + one.skill_range[k].map((end) => number(end, 2)).join("–") + ")");
    const skill = one.skill === null ? "–" : one.skill.map((value, k) => number(value, 2) + range(k)).join(", ");
    return row([one.worker, one.labels, number(one.paid, 2), skill, one.status, button]);
  }));
  const time = (seconds) => new Date(1000 * seconds).toLocaleTimeString();
  const told = events.filter((one) => one.kind !== "decided" && one.kind !== "began"); // those are for machines
  at("history").replaceChildren(...told.map((one) => {
    const more = one.kind === "leased" ? "until " + time(Number(one.value)) : one.value;
    const who = one.worker || (["leased", "told", "corrected", "skipped"].includes(one.kind) ? "expert" : "");
    return row([one.number, time(one.at), one.kind, who, one.task || (one.lease ? "of " + one.lease : ""), more]);
  }));
  at("all").hidden = false;
  at("enter").hidden = true;
  at("said").textContent = "";
}

async function act(path, body) {
  try {
    const answer = await (await get(path, body ?? {})).json();
    await look();
    return answer;
  } catch (error) { refuse(error); }
}

async function save(path, name) {
  try {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await (await get(path)).blob());
    link.download = name;
    link.click();
  } catch (error) { refuse(error); }
}

function refuse(error) {
  if (error.status === 401 || error.status === 403) {
    sessionStorage.removeItem("manager");
    token = "";
    at("all").hidden = true;
    at("enter").hidden = false;
  }
  at("said").textContent = error.message;
}

async function bound() {
  try {
    least = token ? (await (await get("/api/limits")).json()).cost : null;
  } catch {
    least = null; // no skills are believed yet, or tasks arrive
  }
  setTimeout(bound, 60000);
}

async function again() {
  if (token) {
    try {
      await look();
      sessionStorage.setItem("manager", token);
    } catch (error) { refuse(error); }
  }
  setTimeout(again, 5000);
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  look().then(() => sessionStorage.setItem("manager", token)).catch(refuse);
});
at("aim").addEventListener("submit", (event) => {
  event.preventDefault();
  act("/api/target", { epsilon: Number(at("target").value) });
});
at("grant").addEventListener("submit", async (event) => {
  event.preventDefault();
  const made = await act("/api/tokens", { worker: at("worker").value });
  if (made) at("granted").textContent = location.origin + "/#" + made.token;
});
for (const name of ["pause", "resume", "end"]) at(name).addEventListener("click", () => act("/api/" + name));
at("labels").addEventListener("click", () => save("/api/labels.csv", "labels.csv"));
at("events").addEventListener("click", () => save("/api/events.csv", "events.csv"));
if (!token) at("enter").hidden = false;
again();
bound();
