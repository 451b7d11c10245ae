"use strict";
// The token comes behind the # of the link, which browsers do not send, and stays in this tab.
const at = (id) => document.getElementById(id);
let token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
let lease = null; // the task in hand
let last = null; // the task before it, with the label that was told
let changing = false; // whether the last one is shown, to be told anew
let classes = [];
let waiting = null;
let busy = false; // whether a call is on its way: a second press does nothing
history.replaceState(null, "", location.pathname);

async function call(path, body) {
  const given = { headers: { Authorization: "Bearer " + token } };
  if (body !== undefined) {
    given.method = "POST";
    given.headers["Content-Type"] = "application/json";
    given.body = JSON.stringify(body);
  }
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    let answer = null;
    try {
      answer = await fetch(path, given);
    } catch {
      say("No connection; your answer is kept and sent again.");
    }
    if (answer && answer.status !== 429 && answer.status < 500) { // 429 is what a proxy in front says
      const told = await answer.json();
      if (!answer.ok) throw Object.assign(new Error(told.error), { status: answer.status });
      say("");
      return told;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

function say(text) { at("said").textContent = text; }

function show() {
  const shown = changing ? last : lease;
  at("work").hidden = !shown;
  at("undo").hidden = changing || !last;
  at("back").hidden = !changing;
  at("skip").hidden = changing;
  at("skip").disabled = false;
  if (!shown) return;
  at("task").textContent = shown.task;
  const content = at("content");
  content.replaceChildren();
  for (const [name, text] of Object.entries(shown.content)) {
    if (/^https:\/\//.test(text) && /image|picture|photo|url/i.test(name)) {
      const picture = document.createElement("img");
      picture.src = text;
      picture.alt = name + " of " + shown.task;
      content.append(picture);
    } else if (text) {
      const words = document.createElement("p");
      words.textContent = text;
      content.append(words);
    }
  }
  const choices = at("choices");
  choices.replaceChildren();
  classes.forEach((name, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(name);
    if (k < 9) {
      const key = document.createElement("kbd");
      key.textContent = k + 1;
      button.append(key);
    }
    if (changing) button.setAttribute("aria-pressed", String(name === last.label));
    button.addEventListener("click", () => tell(name));
    choices.append(button);
  });
}

function change(begins) {
  if (begins === changing || (begins && !last)) return;
  changing = begins;
  say(begins ? "You said " + last.label + ". What is it?" : "");
  show();
}

async function tell(name) {
  const given = changing ? last : lease;
  if (!given || busy) return;
  busy = true;
  for (const button of document.querySelectorAll("#choices button, #skip, #undo, #back")) button.disabled = true;
  try {
    if (changing) {
      await call("/api/correct", { lease: given.lease, label: name });
      last.label = name;
      changing = false;
    } else {
      if (name === null) await call("/api/skip", { lease: given.lease });
      else await call("/api/label", { lease: given.lease, label: name });
      last = name === null ? last : { ...given, label: name };
      lease = null;
    }
    await next();
  } catch (error) {
    changing = false;
    refuse(error);
    if (error.status === 409) show();
  } finally {
    busy = false;
    for (const button of document.querySelectorAll("#skip, #undo, #back")) button.disabled = false;
  }
}

async function next() {
  clearTimeout(waiting);
  const told = await call("/api/next", {});
  lease = told.lease === null ? null : told;
  show();
  const me = await call("/api/me");
  at("me").textContent = me.worker + ": " + me.labels + (me.worker === "expert" ? " answers" : " labels");
  if (lease) return;
  say(told.over ? "There is nothing left for you. Thank you!" : "Nothing to do just now; this page looks again by itself.");
  waiting = setTimeout(() => { if (!changing) next().catch(refuse); }, 1000 * told.again_in);
}

function refuse(error) {
  if (error.status === 401) {
    sessionStorage.removeItem("token");
    at("work").hidden = true;
    at("enter").hidden = false;
  }
  say(error.message);
}

async function begin() {
  at("enter").hidden = true;
  try {
    classes = (await call("/api/me")).classes;
    sessionStorage.setItem("token", token);
    await next();
  } catch (error) { refuse(error); }
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  begin();
});
at("skip").addEventListener("click", () => tell(null));
at("undo").addEventListener("click", () => change(true));
at("back").addEventListener("click", () => change(false));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.tagName === "INPUT") return;
  const key = event.key.toLowerCase();
  const place = Number(event.key) - 1;
  if (key === "u") change(true);
  else if (key === "escape") change(false);
  else if (key === "s" && lease && !changing) tell(null);
  else if (place >= 0 && place < Math.min(9, classes.length) && (lease || changing)) tell(classes[place]);
});
if (token) begin();
else at("enter").hidden = false;
