// Agents: their colours, their names, what is wrong with them.
import { make } from "./dom.js";
import { counted, fill, visible } from "./text.js";

const colours = 8;

// colour is the agent's own, the same in every view.
export function colour(agent) { return `var(--agent-${agent % colours})`; }

export function title(agent) {
  return agent.label && agent.label !== agent.path ? `${visible(agent.label)} (${visible(agent.path)})` : visible(agent.path);
}

// agentName shows an agent at its depth in the tree.
export function agentName(session, number) {
  const agent = session.agents[number];
  const name = make("span", { className: "agent-name", title: title(agent) });
  name.style.setProperty("--depth", Math.min(agent.depth, 6));
  const swatch = make("i", { className: "swatch" });
  swatch.style.background = colour(number);
  const label = make("span", { className: "label", dir: "auto" });
  fill(label, agent.label || agent.path);
  name.append(swatch, label);
  if (agent.label && agent.label !== agent.path) name.append(make("span", { className: "path" }, visible(agent.path)));
  const badge = findingBadge(session, number);
  if (badge) name.append(badge);
  return name;
}

function findingBadge(session, number) {
  let errors = 0, all = 0;
  for (const list of session.at[number].values()) {
    all += list.length;
    errors += list.filter((finding) => finding.severity === "error").length;
  }
  if (all === 0) return null;
  return make("span", { className: `badge ${errors ? "error" : "warning"}`, title: counted(all, "finding") }, `${all}`);
}

// endings that are worth a word
const endings = {
  turn_limit: "turn limit", truncated: "cut off", refused: "refused", empty: "empty answer", cancelled: "cancelled", upstream_error: "upstream error",
};

export function ending(agent) { return endings[agent.stop] ?? ""; }
