// Search through all messages of the session, page by page, so that the first
// hits show while the rest is still being read.
import { breathe, part } from "./data.js";
import { make, Windowed } from "./dom.js";
import { redraw } from "./messages.js";
import { go, state } from "./state.js";
import { agentName } from "./tree.js";
import { counted, fill } from "./text.js";

const box = () => document.getElementById("hits");
const mostHits = 2000;
let run = null;

// search begins a search anew; "" ends it.
export function search(text) {
  run?.stop();
  run = null;
  state.query = text.toLowerCase();
  box().hidden = state.query === "";
  if (state.query !== "") {
    run = new Run(state.query);
    run.all();
  }
  redraw();
}

// nextHit goes to another hit.
export function nextHit(by) { run?.next(by); }
export function closeHits() { box().hidden = true; }
export function openHits() { box().hidden = run === null; }

class Run {
  constructor(query) {
    this.query = query;
    this.session = state.session;
    this.number = state.number;
    this.hits = [];
    this.at = -1;
    this.head = make("p", { className: "hits-head", role: "status" });
    this.panel = make("div", { className: "hits-list" });
    box().replaceChildren(this.head, this.panel);
    this.list = new Windowed(this.panel, 0, 58, (i) => this.row(i));
  }

  stop() { this.stopped = true; }

  async all() {
    for (let agent = 0; agent < this.session.agents.length && this.hits.length < mostHits; agent++) {
      for (let page = 0; page < this.session.agents[agent].pages.length; page++) {
        const rows = await part(`s${this.number}-a${agent}-p${page}`);
        for (let i = 0; i < rows.length; i++) {
          const hit = await this.find(rows[i]);
          if (hit) this.hits.push({ agent, row: this.session.agents[agent].pages[page] + i, ...hit });
        }
        if (this.stopped) return;
        this.say(false);
        await breathe();
      }
    }
    this.say(true);
  }

  // find looks into one row: the name of a tool, its arguments, the text.
  async find(row) {
    for (const text of [row.name, row.args, row.text]) {
      if (!text) continue;
      const head = typeof text === "string" ? text : text.head ?? "";
      const whole = text.block ? await part(`s${this.number}-${text.block}`) : head;
      const at = whole.toLowerCase().indexOf(this.query);
      if (at >= 0) {
        const from = Math.max(0, at - 40);
        return { kind: row.kind, turn: row.turn, text: (from ? "…" : "") + whole.slice(from, at + this.query.length + 80).replace(/\s+/g, " ") };
      }
    }
    return null;
  }

  say(done) {
    const many = this.hits.length >= mostHits ? ", the first of them" : "";
    this.head.textContent = counted(this.hits.length, "hit") + (done ? many : " so far…");
    this.panel.style.height = `${Math.min(5, this.hits.length) * 58}px`;
    this.list.resize(this.hits.length);
    box().dataset.done = String(done);
  }

  row(i) {
    const hit = this.hits[i];
    const text = make("span", { className: "hit-text", dir: "auto" });
    fill(text, hit.text, this.query);
    return make("button", { className: `plain hit ${i === this.at ? "chosen" : ""}`, onclick: () => this.go(i) },
      make("span", { className: "hit-place" }, agentName(this.session, hit.agent), make("span", { className: "quiet" }, hit.turn ? `turn ${hit.turn}, ${hit.kind}` : hit.kind)), text);
  }

  go(i) {
    this.at = i;
    const hit = this.hits[i];
    if (!hit) return;
    closeHits();
    this.list.redraw();
    go({ view: "messages", agent: hit.agent, row: hit.row });
  }

  next(by) {
    if (this.hits.length > 0) this.go((this.at + by + this.hits.length) % this.hits.length);
  }
}
