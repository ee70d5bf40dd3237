// What the page shows: it stands in the address, so that it can be linked to.
import { part } from "./data.js";

export const state = {
  index: null, // the list of sessions
  session: null, // the open one
  number: 0, // its place in the list
  view: "overview",
  agent: 0,
  row: 0,
  left: 0, // of a diff
  right: 1,
  query: "",
  folded: true, // long texts are cut
  opened: new Set(), // texts whose folding was turned over
};

// address writes a place: #/0/overview, #/0/messages/3/17, #/diff/0/1, #/sessions.
export function address(change = {}) {
  const s = { ...state, ...change };
  switch (s.view) {
    case "sessions": return "#/sessions";
    case "diff": return `#/diff/${s.left}/${s.right}`;
    case "messages": return `#/${s.number}/messages/${s.agent}/${s.row}`;
    default: return `#/${s.number}/overview`;
  }
}

// whole reads a number of an address; what is none is the first.
function whole(word, below) {
  const n = Number.parseInt(word, 10);
  return n >= 0 && n < below ? n : 0;
}

// follow takes a place from an address, and loads its session.
export async function follow(hash) {
  const [first, second, third, fourth] = hash.replace(/^#\//, "").split("/");
  const count = state.index.sessions.length;
  if (first === "sessions") {
    state.view = "sessions";
    return;
  }
  if (first === "diff") {
    state.view = "diff";
    state.left = whole(second, count);
    state.right = whole(third, count);
    return;
  }
  const number = whole(first, count);
  await open(number);
  state.view = second === "messages" ? "messages" : "overview";
  state.agent = whole(third, state.session.agents.length);
  state.row = whole(fourth, Math.max(1, state.session.agents[state.agent]?.rows ?? 0));
}

// open makes a session the one that is shown.
export async function open(number) {
  if (state.session && state.number === number) return;
  const session = await part(`s${number}`);
  session.at = session.agents.map(() => new Map());
  for (const finding of session.findings ?? []) {
    if (finding.agent < 0) continue;
    const rows = session.at[finding.agent];
    rows.set(finding.row, [...(rows.get(finding.row) ?? []), finding]);
  }
  state.session = session;
  state.number = number;
  state.opened.clear();
}

// go shows another place.
export function go(change) {
  const to = address(change);
  if (location.hash === to) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = to;
}
