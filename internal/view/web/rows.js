// One row of an agent's history: what it was told, said, called or got back.
import { make } from "./dom.js";
import { part } from "./data.js";
import { go, state } from "./state.js";
import { agentName, colour } from "./tree.js";
import { duration, fill, fillText, number, short, size, visible } from "./text.js";

const foldLines = { system: 4, user: 24, assistant: 40, args: 12, result: 10, note: 6 };
const foldChars = 100; // characters that count as a line
const step = 32 << 10; // characters of a long text that are shown at once

// rowElement builds a row of an agent.
export function rowElement(row, place) {
  const element = make("article", { className: `row ${row.kind}` });
  element.style.setProperty("--own", colour(place.agent));
  element.append(...headOf(row));
  for (const finding of state.session.at[place.agent].get(place.row) ?? []) element.append(findingNote(finding));
  if (row.kind === "call") {
    if (row.args.head && !row.inline) element.append(textElement(row.args, "args", `${place.row}g`, place));
    if (row.noResult) element.append(make("p", { className: "missing" }, "no result"));
    else if (row.text?.head) element.append(textElement(row.text, "result", `${place.row}t`, place));
    else if (!row.child) element.append(make("p", { className: "quiet empty" }, "an empty result"));
  } else if (row.text?.head) {
    element.append(textElement(row.text, row.kind === "tool" ? "result" : row.kind, `${place.row}t`, place));
  } else if (row.kind !== "assistant" && row.kind !== "note") {
    element.append(make("p", { className: "quiet empty" }, "an empty text"));
  }
  return element;
}

const words = { system: "system", user: "user", tool: "result", note: "" };

function headOf(row) {
  switch (row.kind) {
    case "assistant": return [answerHead(row)];
    case "call": return [callHead(row)];
    case "note": return [make("header", { dir: "auto" }, visible(row.name ?? ""))];
    default: return [make("header", {}, make("b", {}, words[row.kind]), make("span", { className: "facts-line" }, row.turn > 1 ? `before turn ${row.turn}` : ""))];
  }
}

function answerHead(row) {
  const facts = [];
  if (row.context) facts.push(`context ${row.guess ? "≈ " : ""}${number(row.context)}`);
  if (row.output) facts.push(`${number(row.output)} written`);
  if (row.took) facts.push(duration(row.took));
  return make("header", {}, make("b", {}, `turn ${row.turn}`), make("span", { className: "facts-line" }, facts.join(" · ")),
    row.finish ? make("span", { className: "chip bad" }, visible(row.finish)) : null);
}

function callHead(row) {
  row.args ??= {};
  const args = row.args.head ?? "";
  const flat = args.replace(/\s*\n\s*/g, " ");
  row.inline = !row.args.block && flat.length <= 90 && !/\\n/.test(flat);
  const head = make("header", {}, make("b", { className: "tool" }, visible(row.name ?? "")));
  if (row.inline && flat && flat !== "{}") {
    const inline = make("code", { className: "inline-args", dir: "auto" });
    fill(inline, flat, state.query);
    head.append(inline);
  }
  if (row.badArgs) head.append(make("span", { className: "chip bad" }, "arguments are no JSON"));
  if (row.verdict) head.append(make("span", { className: "chip bad" }, row.verdict));
  if (row.child) {
    const number = row.child - 1;
    head.append(make("button", { className: "child", onclick: () => go({ agent: number, row: 0 }) }, "→ ", agentName(state.session, number)));
  }
  return head;
}

function findingNote(finding) {
  const message = make("span", { dir: "auto" });
  fill(message, finding.message);
  const note = make("div", { className: `finding-note ${finding.severity}` }, make("code", {}, finding.code), message);
  if (finding.remedy) note.append(make("span", { className: "remedy" }, visible(finding.remedy)));
  return note;
}

// textElement shows a text, cut when it is long, with what unfolds it.
function textElement(text, kind, key, place) {
  const box = make("div", { className: `text ${kind}` });
  const body = make("pre", { dir: "auto" });
  box.append(body);
  const turned = state.opened.has(key);
  const lines = foldLines[kind] ?? 20;
  const long = text.size > 0 || isLong(text.head, lines);
  const folded = long && state.folded !== turned;
  fillText(body, folded ? beginning(text.head, lines) : text.head, state.query);
  if (!long) return box;
  const toggle = () => {
    if (!state.opened.delete(key)) state.opened.add(key);
    const again = textElement(text, kind, key, place);
    box.replaceWith(again);
    if (!again.isConnected) return;
    again.querySelector(".fold")?.focus({ preventScroll: true });
  };
  const measure = text.size ? size(text.size) : `${text.head.split("\n").length} lines`;
  box.classList.toggle("folded", folded);
  if (text.size && !folded) {
    showWhole(box, body, text, place);
  }
  box.append(make("button", { className: "fold", "aria-expanded": String(!folded), onclick: toggle }, folded ? `show all (${measure})` : "fold"));
  return box;
}

function isLong(text, lines) {
  let used = 0;
  for (let at = 0; at <= text.length;) {
    const next = text.indexOf("\n", at);
    const end = next < 0 ? text.length : next;
    used += Math.max(1, Math.ceil((end - at) / foldChars));
    if (used > lines + 2) return true;
    at = end + 1;
  }
  return false;
}

// beginning is what a folded text shows.
function beginning(text, lines) {
  let end = text.match(/^\n*/)[0].length; // which take one line
  for (let used = 0; used < lines && end < text.length;) {
    const next = text.indexOf("\n", end);
    const stop = next < 0 ? text.length : next + 1;
    const room = (lines - used) * foldChars;
    if (stop - end > room) return `${text.slice(0, wholeCharacter(text, end + room))}…`;
    used += Math.max(1, Math.ceil((stop - end) / foldChars));
    end = stop;
  }
  return text.slice(0, end).replace(/\n$/, "");
}

// wholeCharacter keeps a place from parting the two halves of a character.
function wholeCharacter(text, at) {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}

// showWhole loads a long text and shows it a step at a time.
async function showWhole(box, body, text, place) {
  const all = await part(`s${state.number}-${text.block}`);
  let at = 0;
  const more = make("button", { className: "fold" });
  const show = () => {
    const end = wholeCharacter(all, Math.min(all.length, at + step));
    const piece = make("span");
    (at === 0 ? fillText : fill)(piece, all.slice(at, end), state.query);
    if (at === 0) body.replaceChildren();
    body.append(piece);
    at = end;
    more.textContent = `show more (${short(all.length - at)} characters)`;
    if (at >= all.length) more.remove();
    else if (!more.isConnected) body.after(more);
  };
  more.addEventListener("click", show);
  show();
}
