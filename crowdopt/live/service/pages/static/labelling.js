"use strict";
// The token comes behind the # of the link, which browsers do not send, and stays in this tab.
const at = (id) => document.getElementById(id);
let token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
let lease = null;
let classes = [];
let waiting = null;
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
    if (answer && answer.status !== 429 && answer.status < 500) {
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
  at("work").hidden = false;
  at("task").textContent = lease.task;
  const content = at("content");
  content.replaceChildren();
  for (const [name, text] of Object.entries(lease.content)) {
    if (/^https:\/\//.test(text) && /image|picture|photo|url/i.test(name)) {
      const picture = document.createElement("img");
      picture.src = text;
      picture.alt = name + " of " + lease.task;
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
    button.addEventListener("click", () => tell(name));
    choices.append(button);
  });
}

async function tell(name) {
  if (!lease) return;
  const given = lease;
  lease = null;
  for (const button of document.querySelectorAll("#choices button, #skip")) button.disabled = true;
  try {
    if (name === null) await call("/api/skip", { lease: given.lease });
    else await call("/api/label", { lease: given.lease, label: name });
    await next();
  } catch (error) { refuse(error); }
}

async function next() {
  clearTimeout(waiting);
  const told = await call("/api/next", {});
  at("skip").disabled = false;
  if (told.lease !== null) {
    lease = told;
    show();
  } else {
    at("work").hidden = true;
    say(told.over ? "There is nothing left for you. Thank you!" : "Nothing to do just now; this page looks again by itself.");
    waiting = setTimeout(() => next().catch(refuse), 1000 * told.again_in);
  }
  const me = await call("/api/me");
  at("me").textContent = me.worker + ": " + me.labels + " labels";
  if (!lease) say(told.over ? "There is nothing left for you. Thank you!" : "Nothing to do just now; this page looks again by itself.");
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
document.addEventListener("keydown", (event) => {
  if (!lease || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  const place = Number(event.key) - 1;
  if (event.key.toLowerCase() === "s") tell(null);
  else if (place >= 0 && place < Math.min(9, classes.length)) tell(classes[place]);
});
if (token) begin();
else at("enter").hidden = false;
