// Two sessions side by side: agents as they belong together, and the messages
// of each pair.
import { part } from "./data.js";
import { make, Windowed } from "./dom.js";
import { options } from "./names.js";
import { Paged } from "./paged.js";
import { go, state } from "./state.js";
import { colour } from "./tree.js";
import { fill, number, size, visible } from "./text.js";

let rowList = null; // the rows that are shown
let chosen = 0;
let pair = "";

export function diffable() { return state.index.sessions.length > 1 && (state.index.diffs?.length ?? 1) > 0; }

export async function diff(main) {
  const id = `d${state.left}-${state.right}`;
  const page = make("div", { className: "diff" }, pickers());
  let found;
  try {
    found = await part(id);
  } catch {
    main.replaceChildren(page);
    page.append(make("p", { className: "quiet nothing" }, "This file holds no diff of these two: `tapetree view` shows it."));
    return;
  }
  const agents = found.agents ?? [];
  if (pair !== id) chosen = Math.max(0, agents.findIndex((agent) => agent.kind !== "same"));
  pair = id;
  const aside = make("aside", { className: "agents", tabIndex: 0, "aria-label": "Agents" });
  const rows = make("div", { className: "diff-rows", tabIndex: 0 });
  const head = make("header", { className: "about" });
  page.append(make("div", { className: "messages" }, aside, make("section", { className: "history" }, head, rows)));
  main.replaceChildren(page);
  const tree = new Windowed(aside, agents.length, 34, (i) => agentRow(agents[i], i, () => {
    chosen = i;
    tree.redraw();
    page.querySelector(".messages").classList.remove("agents-open");
    showAgent(id, found, head, rows);
  }));
  tree.show(chosen);
  showAgent(id, found, head, rows);
}

// pickers choose the two sessions.
function pickers() {
  const all = state.index.sessions.slice(0, 500);
  const picker = (side, other) => {
    const select = make("select", { "aria-label": `${side} session`, title: visible(all[state[side]]?.name ?? "") }, ...options(all.map((listed) => listed.name)));
    select.value = String(state[side]);
    select.addEventListener("change", () => go({ view: "diff", [side]: Number(select.value), [other]: state[other] }));
    return select;
  };
  return make("div", { className: "pickers" }, picker("left", "right"),
    make("button", { title: "change sides", "aria-label": "change sides", onclick: () => go({ view: "diff", left: state.right, right: state.left }) }, "⇄"), picker("right", "left"));
}

const signs = { same: "", changed: "≠", added: "+", removed: "−", moved: "↕" };

function agentRow(agent, i, choose) {
  const path = agent.left || agent.right || "";
  const name = make("span", { className: "agent-name" });
  name.style.setProperty("--depth", Math.min(6, path.split("/").length - 1));
  const swatch = make("i", { className: "swatch" });
  swatch.style.background = colour(i);
  const label = make("span", { className: "label", dir: "auto" });
  fill(label, agent.label || path);
  name.append(swatch, label, make("span", { className: `chip kind ${agent.kind}` }, agent.kind));
  return make("button", { className: `plain agent-row ${i === chosen ? "chosen" : ""}`, onclick: choose }, name);
}

function showAgent(id, found, head, rows) {
  const agent = found.agents?.[chosen];
  head.replaceChildren(make("button", { className: "open-agents", onclick: () => document.querySelector(".diff .messages").classList.toggle("agents-open") }, "Agents"));
  if (!agent) {
    head.append("no agents");
    return;
  }
  const name = make("h1", { dir: "auto" });
  fill(name, agent.label || agent.left || agent.right);
  const paths = [...new Set([agent.left, agent.right].filter((path) => path))].map(visible).join(" ↔ ");
  const counts = ["same", "changed", "moved", "removed", "added"].filter((kind) => agent.counts[kind]).map((kind) => `${number(agent.counts[kind])} ${kind}`);
  const { left, right } = agent.tokens;
  const tokens = left.input || right.input ? `tokens ${number(left.input + left.output)} → ${number(right.input + right.output)}` : "";
  head.append(name, make("span", { className: "facts-line" }, [paths, ...counts, tokens].filter((fact) => fact && fact !== name.textContent).join(" · ")));
  if (agent.first >= 0) head.append(make("button", { className: "link", onclick: () => rowList.show(agent.first) }, "first difference"));
  for (const setting of agent.settings ?? []) head.append(settingElement(setting));
  rowList = new Paged(rows, found.pages[chosen], found.rows[chosen], 70, (i) => part(`${id}-a${chosen}-p${i}`), rowOf);
  if (rowList.count === 0) rows.append(make("p", { className: "quiet nothing" }, "No messages."));
  rowList.show(Math.max(0, agent.first));
}

function settingElement(setting) {
  const box = make("div", { className: "setting" }, make("b", {}, setting.grade), " ");
  if (setting.parts) partsInto(box, setting.parts, "");
  else {
    const left = make("del"), right = make("ins");
    fill(left, setting.left || "none");
    fill(right, setting.right || "none");
    box.append(left, " → ", right);
  }
  return box;
}

// moveDifference goes to another row that differs.
export async function moveDifference(by) {
  if (!rowList) return;
  for (let row = rowList.at + by; row >= 0 && row < rowList.count; row += by) {
    const page = rowList.pageOf(row);
    const rows = await rowList.load(page);
    if (rows[row - rowList.first[page]].kind !== "same") {
      rowList.show(row);
      return;
    }
  }
}

function rowOf(row) {
  const side = (at) => {
    const message = row[at];
    if (!message) return make("div", { className: "side none" });
    const box = make("div", { className: `side ${at}` }, headLine(message, row));
    textInto(box, message, row, at);
    callsInto(box, message, row, at);
    return box;
  };
  return make("div", { className: `diff-row ${row.kind}` }, make("span", { className: "sign-of", title: row.kind }, signs[row.kind] ?? ""), side("left"), side("right"));
}

function headLine(message, row) {
  const words = [message.role, message.tool ? visible(message.tool) : "", message.turn ? `turn ${message.turn}` : "", row.kind === "moved" ? "moved" : ""];
  return make("header", {}, words.filter((word) => word).join(" · "), row.pairing ? make("span", { className: "chip bad" }, "answers another call") : null);
}

const most = 6000; // characters of a text that are shown before it is unfolded

function textInto(box, message, row, at) {
  if (!message.text) return;
  const body = make("pre", { dir: "auto" });
  box.append(body);
  const other = at === "left" ? "added" : "removed";
  const parts = row.parts ? row.parts.filter((piece) => piece.kind !== other) : [{ kind: "same", text: message.text }];
  const show = (limit) => partsInto(body, parts, at, limit);
  const length = parts.reduce((sum, piece) => sum + piece.text.length, 0);
  show(length > most ? most : Infinity);
  if (length > most) {
    const more = make("button", { className: "fold", onclick: () => {
      show(Infinity);
      more.remove();
    } }, `show all (${size(message.size)})`);
    box.append(more);
  } else if (message.cut) box.append(make("span", { className: "quiet" }, `the beginning of ${size(message.size)}, equal on both sides`));
}

function partsInto(body, parts, at, limit = Infinity) {
  body.replaceChildren(...(at === "" ? [...body.childNodes] : []));
  let left = limit;
  for (const piece of parts) {
    if (left <= 0) break;
    const element = make(piece.kind === "added" ? "ins" : piece.kind === "removed" ? "del" : "span");
    fill(element, piece.text.length > left ? `${piece.text.slice(0, left)}…` : piece.text);
    left -= piece.text.length;
    body.append(element);
  }
}

function callsInto(box, message, row, at) {
  for (const [i, called] of (message.calls ?? []).entries()) {
    const matched = row.calls?.find((one) => one[at] === i);
    const line = make("div", { className: `diff-call ${matched && matched.kind !== "same" ? matched.kind : ""}` }, make("b", { className: "tool" }, visible(called.name)));
    const args = make("code", { dir: "auto" });
    if (matched?.parts) partsInto(args, matched.parts.filter((piece) => piece.kind !== (at === "left" ? "added" : "removed")), at, most);
    else fill(args, called.arguments ?? "");
    line.append(args);
    if (called.child) line.append(make("span", { className: "quiet" }, `→ ${visible(called.child)}`));
    box.append(line);
  }
}

