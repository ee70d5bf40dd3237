// The page: it reads what there is, and shows what the address says.
import { part } from "./data.js";
import { diff, diffable } from "./diff.js";
import { make } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { messages } from "./messages.js";
import { options } from "./names.js";
import { overview, sessions } from "./overview.js";
import { closeHits, openHits, search } from "./search.js";
import { address, follow, go, open, state } from "./state.js";
import { visible } from "./text.js";

const views = { overview, messages, sessions, diff };

function tabs() {
  const list = [["overview", "Overview"], ["messages", "Messages"]];
  if (state.index.sessions.length > 1) list.unshift(["sessions", "Sessions"]);
  if (diffable()) list.push(["diff", "Diff"]);
  document.getElementById("tabs").replaceChildren(...list.map(([view, name]) => make("a", {
    href: address({ view }), className: view === state.view ? "chosen" : "", "aria-current": view === state.view ? "page" : "false",
  }, name)));
}

const mostOptions = 500; // a longer list is for the view of all sessions

function picker() {
  const select = document.getElementById("session");
  const list = state.index.sessions.slice(0, mostOptions);
  select.replaceChildren(...options(list.map((listed) => listed.name)));
  select.hidden = state.index.sessions.length < 2;
  select.addEventListener("change", () => go({ view: "overview", number: Number(select.value) }));
}

async function show() {
  const main = document.getElementById("main");
  try {
    await follow(location.hash);
    if (!state.session) await open(state.number);
    if (state.view === "diff" && !diffable()) state.view = "overview";
    tabs();
    const chosen = document.getElementById("session");
    chosen.value = String(state.number);
    chosen.title = visible(state.session.name);
    document.title = `${visible(state.session.name)} · tapetree`;
    main.dataset.view = state.view;
    await views[state.view](main);
  } catch (fault) {
    main.replaceChildren(make("p", { className: "fault" }, `This cannot be shown: ${fault.message}`));
  }
}

async function start() {
  state.index = await part("index");
  if (state.index.version !== 1) {
    document.getElementById("main").replaceChildren(make("p", { className: "fault" }, "This was written by another version of tapetree."));
    return;
  }
  if (state.index.sessions.length === 0) {
    document.getElementById("main").replaceChildren(make("p", { className: "fault" }, "There is no session."));
    return;
  }
  if (state.index.start) [state.left, state.right] = state.index.start;
  if (!location.hash) {
    const [left, right] = [state.left, state.right];
    const first = state.index.diff ? `#/diff/${left}/${right}` : state.index.sessions.length > 1 ? "#/sessions" : "#/0/overview";
    history.replaceState(null, "", first);
  }
  picker();
  listenToKeys();
  window.addEventListener("hashchange", show);
  const query = document.getElementById("query");
  let waiting = 0;
  query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(query.value), 150);
  });
  query.addEventListener("focus", openHits);
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#search")) closeHits();
  });
  await show();
}

start();
