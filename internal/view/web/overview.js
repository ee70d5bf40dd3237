// The session at a glance: what it came to, who worked when, where contexts
// grew, what is wrong.
import { make, Windowed } from "./dom.js";
import { axis, contexts, lane, nearest } from "./chart.js";
import { go, state } from "./state.js";
import { agentName, colour, ending, title } from "./tree.js";
import { cutName, shortNames } from "./names.js";
import { counted, duration, fill, number, short, visible } from "./text.js";

export function overview(main) {
  const session = state.session;
  const page = make("div", { className: "overview" });
  main.replaceChildren(page);
  page.append(heading(session), facts(session));
  if (session.findings?.length) page.append(findings(session));
  page.append(lanes(session), growth(session));
  if (session.notes?.length) page.append(notes(session));
}

function heading(session) {
  const name = make("h1", { dir: "auto" });
  fill(name, session.name);
  const began = session.began ? `, began ${session.began.replace("T", " ").replace("Z", " UTC")}` : "";
  return make("div", { className: "heading" }, name, make("p", { className: "quiet" }, visible(session.format) + began));
}

function facts(session) {
  let input = 0, output = 0, turns = 0, peak = 0, estimated = false;
  for (const agent of session.agents) {
    input += agent.input;
    output += agent.output;
    turns += agent.turns;
    peak = Math.max(peak, agent.peak);
    estimated ||= agent.estimated ?? false;
  }
  const weighing = (severity) => (session.findings ?? []).filter((finding) => finding.severity === severity).length;
  const errors = weighing("error"), warnings = weighing("warning"), notices = weighing("notice");
  const fact = (value, name, kind = "") => make("div", { className: `fact ${kind}` }, make("dd", {}, value), make("dt", {}, name));
  return make("dl", { className: "facts" },
    fact(number(session.agents.length), session.agents.length === 1 ? "agent" : "agents"),
    fact(number(turns), turns === 1 ? "turn" : "turns"),
    fact(number(session.calls), session.calls === 1 ? "tool call" : "tool calls"),
    fact(session.timed ? duration(session.length) : "not known", "time"),
    fact(input ? short(input) : "not known", "tokens in"),
    fact(output ? short(output) : "not known", "tokens out"),
    fact((estimated ? "≈ " : "") + short(peak), "largest context"),
    fact(number(errors), errors === 1 ? "error" : "errors", errors ? "error" : ""),
    fact(number(warnings), warnings === 1 ? "warning" : "warnings", warnings ? "warning" : ""),
    notices ? fact(number(notices), notices === 1 ? "notice" : "notices") : null);
}

function card(name, about, ...children) {
  return make("section", { className: "card" }, make("h2", {}, name, make("span", { className: "quiet" }, about)), ...children);
}

const shownFindings = 100;

function findings(session) {
  const list = make("ol", { className: "findings" });
  const add = (from, to) => { for (const finding of session.findings.slice(from, to)) list.append(make("li", {}, findingButton(session, finding))); };
  add(0, shownFindings);
  const box = card("Findings", "", list);
  const rest = session.findings.length - shownFindings;
  if (rest > 0) {
    let at = shownFindings;
    box.append(make("button", {
      className: "more", onclick: (event) => {
        add(at, at += 1000);
        if (at >= session.findings.length) event.target.remove();
      },
    }, "show more"));
  }
  return box;
}

function findingButton(session, finding) {
  const agent = session.agents[finding.agent];
  const where = agent ? `${visible(agent.path)}${finding.turn ? ` turn ${finding.turn}` : ""}` : "session";
  const message = make("span", { className: "message", dir: "auto" });
  fill(message, finding.message);
  return make("button", {
    className: `finding ${finding.severity}`, disabled: !agent,
    onclick: () => go({ view: "messages", agent: finding.agent, row: finding.row }),
  }, make("code", {}, finding.code), make("span", { className: "where" }, where), message);
}

const laneHeight = 34, narrowLaneHeight = 58;

// lanes is the tree of agents, and beside it what each did when.
function lanes(session) {
  const about = session.timed ? "by time; light where an agent waits" : "by order, for the file tells no times; light where an agent waits";
  const panel = make("div", { className: "lanes", tabIndex: 0 });
  const scale = make("div", { className: "scale" }, make("span"), make("div", { className: "track" }), make("span"));
  const box = card("Agents", about, scale, panel);
  queueMicrotask(() => {
    const narrow = matchMedia("(max-width: 640px)").matches;
    const height = narrow ? narrowLaneHeight : laneHeight;
    panel.style.height = `${Math.min(session.agents.length * height, Math.max(240, window.innerHeight * 0.55))}px`;
    const width = () => Math.max(50, scale.children[1].clientWidth);
    const row = (i) => laneRow(session, i, width(), narrow ? 26 : height);
    const list = new Windowed(panel, session.agents.length, height, row);
    const rescale = () => {
      scale.children[1].replaceChildren(axis(session, width()));
      list.redraw();
    };
    let before = 0;
    new ResizeObserver(() => {
      if (scale.clientWidth !== before) rescale();
      before = scale.clientWidth;
    }).observe(scale);
  });
  return box;
}

function laneRow(session, i, width, height) {
  const agent = session.agents[i];
  const track = make("div", { className: "track" }, lane(session, i, width, height));
  track.addEventListener("click", (event) => {
    event.stopPropagation();
    const box = track.getBoundingClientRect();
    const mark = nearest(agent, ((event.clientX - box.left) / box.width) * session.length);
    go({ view: "messages", agent: i, row: agent.marks.row[mark] ?? 0 });
  });
  const sum = agent.turns ? `${counted(agent.turns, "turn")} · ${agent.estimated ? "≈ " : ""}${short(agent.peak)}` : "no messages";
  const end = ending(agent);
  return make("div", {
    className: "lane-row", title: `${title(agent)}${agent.model ? `, ${visible(agent.model)}` : ""}${end ? `, ${end}` : ""}`,
    onclick: () => go({ view: "messages", agent: i, row: 0 }),
  }, make("button", { className: "plain" }, agentName(session, i)), track, make("span", { className: "sum" }, make("span", {}, sum), end ? make("span", { className: "bad" }, end) : null));
}

// growth is the chart of contexts.
function growth(session) {
  const estimated = session.agents.some((agent) => agent.estimated);
  const about = estimated ? "tokens of each request; where nobody counted, estimated as bytes / 4" : "tokens of each request, as the model counted them";
  const panel = make("div", { className: "growth" });
  const legend = make("div", { className: "legend" });
  const shown = session.agents.map((_, i) => i).filter((i) => session.agents[i].turns > 0).slice(0, 10);
  for (const i of shown) {
    const swatch = make("i", { className: "swatch" });
    swatch.style.background = colour(i);
    const label = make("span", { dir: "auto" });
    fill(label, session.agents[i].label || session.agents[i].path);
    const peak = make("span", { className: "quiet" }, (session.agents[i].estimated ? "≈ " : "") + short(session.agents[i].peak));
    legend.append(make("span", {}, swatch, label, peak));
  }
  let before = 0;
  new ResizeObserver(() => {
    if (panel.clientWidth === before) return;
    before = panel.clientWidth;
    const { svg, left } = contexts(session, before);
    panel.replaceChildren(svg);
    if (left > 0) panel.append(make("p", { className: "quiet" }, `${counted(left, "agent")} with smaller contexts not drawn`));
  }).observe(panel);
  return card("Context", about, make("div", { className: "growth-card" }, legend, panel));
}

function notes(session) {
  const list = make("ul", { className: "notes" });
  for (const note of session.notes.slice(0, 200)) list.append(make("li", { dir: "auto" }, visible(note)));
  if (session.notes.length > 200) list.append(make("li", {}, `and ${counted(session.notes.length - 200, "more note")}`));
  return card("What is not here", "", list);
}

// absent says how many files are not in the list.
function absent({ passed, unread }) {
  const parts = [];
  if (passed) parts.push(`${counted(passed, "file")} passed over, which ${passed === 1 ? "is" : "are"} no history`);
  if (unread) parts.push(`${counted(unread, "file")} could not be read`);
  return parts.length ? make("p", { className: "quiet absent" }, parts.join("; ")) : null;
}

// sessions lists all of them.
export function sessions(main) {
  const list = state.index.sessions;
  const panel = make("div", { className: "session-list", tabIndex: 0 });
  main.replaceChildren(make("div", { className: "sessions" },
    make("div", { className: "heading" }, make("h1", {}, counted(list.length, "session")), absent(state.index)), panel));
  const names = shortNames(list.map((listed) => listed.name));
  const row = (i) => {
    const listed = list[i];
    const name = cutName(names[i]);
    name.classList.add("name");
    name.title = visible(listed.name);
    const badge = (n, kind) => (n ? make("span", { className: `badge ${kind}` }, `${n}`) : null);
    return make("div", { className: "session-row" }, make("button", { className: "plain", onclick: () => go({ view: "overview", number: i }) }, name),
      make("span", { className: "quiet" }, visible(listed.format)), make("span", {}, counted(listed.agents, "agent")), make("span", {}, counted(listed.turns, "turn")),
      make("span", {}, badge(listed.errors, "error"), badge(listed.warnings, "warning")));
  };
  new Windowed(panel, list.length, matchMedia("(max-width: 640px)").matches ? 54 : 42, row);
}
