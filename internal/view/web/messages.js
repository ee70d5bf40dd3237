// The messages of one agent, beside the tree of all.
import { part } from "./data.js";
import { make, Windowed } from "./dom.js";
import { Paged } from "./paged.js";
import { rowElement } from "./rows.js";
import { address, go, state } from "./state.js";
import { agentName, ending } from "./tree.js";
import { counted, fill, number, short, visible } from "./text.js";

const guessedHeight = 110; // pixels of a row that nobody has seen yet
let list = null; // the one that is shown

export function messages(main) {
  const session = state.session;
  if (list?.session === session && list.number === state.agent && list.paged.panel.isConnected) {
    list.paged.show(state.row);
    return;
  }
  const aside = make("aside", { className: "agents", tabIndex: 0, "aria-label": "Agents" });
  const panel = make("div", { className: "rows", tabIndex: 0 });
  const page = make("div", { className: "messages" }, aside, make("section", { className: "history" }, about(session), panel));
  main.replaceChildren(page);
  const tree = new Windowed(aside, session.agents.length, 34, (i) => make("button", {
    className: `plain agent-row ${i === state.agent ? "chosen" : ""}`, "aria-current": String(i === state.agent),
    onclick: () => go({ view: "messages", agent: i, row: 0 }),
  }, agentName(session, i)));
  tree.show(state.agent);
  list = listOf(session, panel);
  list.paged.show(state.row);
}

// about heads the messages of an agent.
function about(session) {
  const agent = session.agents[state.agent];
  if (!agent) return make("header", { className: "about" }, "no agents");
  const name = make("h1", { dir: "auto" });
  fill(name, agent.label || agent.path);
  const facts = [agent.label && agent.label !== agent.path ? visible(agent.path) : "", visible(agent.model ?? ""), counted(agent.turns, "turn"), counted(agent.calls, "call"),
    agent.input ? `${number(agent.input)} tokens in, ${number(agent.output)} out` : "", `largest context ${agent.estimated ? "≈ " : ""}${short(agent.peak)}`];
  const end = ending(agent);
  const parent = agent.parent >= 0 ? make("button", { className: "link", onclick: () => go({ agent: agent.parent, row: Math.max(0, agent.from) }) }, "started here") : null;
  return make("header", { className: "about" },
    make("button", { className: "open-agents", onclick: () => document.querySelector(".messages")?.classList.toggle("agents-open") }, "Agents"),
    name, make("span", { className: "quiet facts-line" }, facts.filter((fact) => fact).join(" · ")),
    end ? make("span", { className: "chip bad" }, end) : null, parent,
    make("button", { className: "link", onclick: foldAll }, state.folded ? "unfold all" : "fold all"));
}

function foldAll() {
  state.folded = !state.folded;
  state.opened.clear();
  list = null;
  go({});
}

function listOf(session, panel) {
  const number = state.agent;
  const agent = session.agents[number];
  const load = (i) => part(`s${state.number}-a${number}-p${i}`);
  const paged = new Paged(panel, agent?.pages ?? [], agent?.rows ?? 0, guessedHeight, load, (row, at) => rowElement(row, { agent: number, row: at }));
  if (paged.count === 0) panel.append(make("p", { className: "quiet nothing" }, "The file holds nothing of this agent but the call that started it."));
  panel.addEventListener("click", (event) => {
    const chosen = event.target.closest(".row");
    if (!chosen || event.target.closest("button")) return;
    paged.at = Number(chosen.dataset.row);
    paged.mark();
    note(paged.at);
  });
  return { paged, session, number };
}

// note puts the chosen row into the address.
function note(row) {
  state.row = row;
  history.replaceState(null, "", address());
}

// move goes some rows on or back.
export function move(by) {
  if (!list) return;
  const row = Math.min(list.paged.count - 1, Math.max(0, list.paged.at + by));
  note(row);
  list.paged.show(row);
}

// foldCurrent turns over the folding of the chosen row.
export function foldCurrent() { list?.paged.element(list.paged.at)?.querySelector(".fold:last-of-type")?.click(); }

// redraw shows what is in sight anew, as for a search.
export function redraw() { if (list?.paged.panel.isConnected) list.paged.redraw(); }
