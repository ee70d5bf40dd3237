// The keyboard.
import { moveDifference } from "./diff.js";
import { make } from "./dom.js";
import { foldCurrent, move } from "./messages.js";
import { closeHits, nextHit, openHits, search } from "./search.js";
import { go, state } from "./state.js";

const keys = [
  ["j / k", "next, previous message; in a diff, difference"], ["o", "fold or unfold it"], ["[ / ]", "previous, next agent"], ["p", "to the call that started the agent"],
  ["f / F", "next, previous finding"], ["/", "search"], ["n / N", "next, previous hit"], ["s", "sessions"], ["v", "overview"], ["m", "messages"],
  ["d", "diff of two sessions"], ["t", "light or dark"], ["?", "these keys"], ["Esc", "close, end the search"],
];

export function listenToKeys() {
  document.addEventListener("keydown", pressed);
  document.getElementById("help").addEventListener("click", help);
  document.getElementById("theme").addEventListener("click", theme);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const query = document.getElementById("query");
  if (event.key === "Escape") {
    if (document.getElementById("keys").open) return; // the dialog closes itself
    if (document.getElementById("hits").hidden) {
      query.value = "";
      search("");
    }
    closeHits();
    query.blur();
    return;
  }
  if (event.target === query) {
    if (event.key === "Enter") {
      event.preventDefault();
      query.blur();
      nextHit(event.shiftKey ? -1 : 1);
    }
    return;
  }
  if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function inMessages(act) {
  if (state.view === "messages") act();
  else go({ view: "messages" });
}

function otherAgent(by) {
  const count = state.session.agents.length;
  go({ view: "messages", agent: (state.agent + by + count) % count, row: 0 });
}

function started() {
  const agent = state.session.agents[state.agent];
  if (agent?.parent >= 0) go({ view: "messages", agent: agent.parent, row: Math.max(0, agent.from) });
}

// otherFinding goes to the next finding after the chosen message.
function otherFinding(by) {
  const places = (state.session.findings ?? []).filter((finding) => finding.agent >= 0)
    .map(({ agent, row }) => ({ agent, row })).sort((x, y) => x.agent - y.agent || x.row - y.row)
    .filter((place, i, all) => i === 0 || place.agent !== all[i - 1].agent || place.row !== all[i - 1].row);
  if (places.length === 0) return;
  const here = state.view === "messages" ? state : { agent: -1, row: -1 };
  const order = (place) => place.agent - here.agent || place.row - here.row;
  const next = by > 0 ? places.find((place) => order(place) > 0) ?? places[0] : places.findLast((place) => order(place) < 0) ?? places.at(-1);
  go({ view: "messages", ...next });
}

const actions = {
  j: () => (state.view === "diff" ? moveDifference(1) : inMessages(() => move(1))),
  k: () => (state.view === "diff" ? moveDifference(-1) : inMessages(() => move(-1))),
  o: () => inMessages(foldCurrent),
  "]": () => otherAgent(1),
  "[": () => otherAgent(-1),
  p: started,
  f: () => otherFinding(1),
  F: () => otherFinding(-1),
  "/": () => {
    openHits();
    document.getElementById("query").select();
  },
  n: () => nextHit(1),
  N: () => nextHit(-1),
  s: () => go({ view: "sessions" }),
  v: () => go({ view: "overview" }),
  m: () => go({ view: "messages" }),
  d: () => go({ view: "diff" }),
  t: theme,
  "?": help,
};

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

function help() {
  const dialog = document.getElementById("keys");
  if (dialog.open) {
    dialog.close();
    return;
  }
  const list = make("dl");
  for (const [key, what] of keys) list.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, what));
  dialog.replaceChildren(make("h2", {}, "Keys"), list, make("button", { onclick: () => dialog.close() }, "close"));
  dialog.showModal();
}
