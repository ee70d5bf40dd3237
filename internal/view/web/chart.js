// Drawings over the course of a session: the lane of one agent, the axis above
// the lanes, and how large contexts grew.
import { draw } from "./dom.js";
import { colour, title } from "./tree.js";
import { duration, number, short } from "./text.js";

// ticks gives round places from 0 to most, at most count of them.
export function ticks(most, count) {
  if (most <= 0) return [0];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const places = [];
  for (let at = 0; at <= most; at += step) places.push(at);
  return places;
}

// roofed gives round places from 0 to the first that is not below most.
export function roofed(most, count) {
  const places = ticks(most, count);
  const step = places.length > 1 ? places[1] : most;
  if (places.at(-1) < most) places.push(places.at(-1) + step);
  return places;
}

export function place(session, at) {
  if (!session.timed) return `step ${number(Math.round(at) + 1)}`;
  return at === 0 ? "0" : duration(Math.round(at)).replace(".0 s", " s");
}

// axis draws the scale of a session's course.
export function axis(session, width) {
  const svg = draw("svg", { class: "axis", width, height: 22, "aria-hidden": "true" });
  const wanted = ticks(session.length, Math.max(2, Math.floor(width / 90))).filter((at) => session.timed || Number.isInteger(at));
  for (const at of wanted) {
    const x = (at / Math.max(1, session.length)) * width;
    svg.append(draw("line", { x1: x, x2: x, y1: 16, y2: 22 }));
    const anchor = x > width - 40 ? "end" : x < 10 ? "start" : "middle";
    const label = draw("text", { x, y: 12, "text-anchor": anchor });
    label.textContent = place(session, at);
    svg.append(label);
  }
  return svg;
}

// lane draws the turns of an agent, and where it waited between them. It is one
// path, however many turns there are.
export function lane(session, number, width, height) {
  const agent = session.agents[number];
  const scale = width / Math.max(1, session.length);
  const svg = draw("svg", { class: "lane", width, height, role: "img", "aria-label": `turns of ${title(agent)}` });
  const top = 8, tall = height - 16;
  const from = agent.start * scale, to = Math.max(agent.end * scale, from + 2);
  svg.append(draw("rect", { x: from, y: height / 2 - 1, width: to - from, height: 2, fill: colour(number), opacity: 0.45 }));
  const { start, end } = agent.marks;
  let path = "", drawn = -1;
  for (let i = 0; i < start.length; i++) {
    const x = start[i] * scale;
    const gap = session.timed ? 0 : Math.min(2, scale / 5);
    const wide = Math.max(2, (end[i] - start[i]) * scale - gap);
    if (x + wide <= drawn) continue; // nothing of it would be seen
    path += `M${x.toFixed(1)} ${top}h${wide.toFixed(1)}v${tall}h-${wide.toFixed(1)}z`;
    drawn = Math.floor(x + wide);
  }
  svg.append(draw("path", { d: path, fill: colour(number) }));
  if (agent.turns === 0) svg.append(draw("rect", { x: from, y: top, width: Math.max(6, to - from), height: tall, class: "unseen", stroke: colour(number) }));
  for (const [row, list] of [...session.at[number]].slice(0, 100)) {
    const x = Math.min(width - 5, Math.max(5, agent.marks.start[markAt(agent, row)] * scale || from));
    const kind = list.some((finding) => finding.severity === "error") ? "error" : "warning";
    const sign = draw("path", { d: `M${x - 5} ${height - 1}h10l-5 -9z`, class: `sign ${kind}` });
    sign.append(draw("title"));
    sign.firstChild.textContent = list.map((finding) => finding.code).join(", ");
    svg.append(sign);
  }
  return svg;
}

// markAt is the mark of a row's turn.
export function markAt(agent, row) {
  const rows = agent.marks.row;
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] <= row) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

// nearest is the mark under a place of the course.
export function nearest(agent, at) {
  const { start, end } = agent.marks;
  let best = 0, away = Infinity;
  for (let i = 0; i < start.length; i++) {
    const distance = at < start[i] ? start[i] - at : at > end[i] ? at - end[i] : 0;
    if (distance < away) [best, away] = [i, distance];
  }
  return best;
}

const mostLines = 40; // more could not be told apart

// contexts draws the size of every agent's requests over the course, of the
// agents with the largest.
export function contexts(session, width) {
  const narrow = width < 500;
  const height = 190, left = 0, right = narrow ? 44 : 155, top = 10, bottom = 24; // the place of the lanes above, and what stands beside them
  const numbers = session.agents.map((_, i) => i).filter((i) => session.agents[i].marks.context.length > 0);
  const chosen = numbers.sort((a, b) => session.agents[b].peak - session.agents[a].peak).slice(0, mostLines);
  const most = Math.max(1, ...chosen.map((i) => session.agents[i].peak));
  const marks = roofed(most, 4);
  const roof = marks.at(-1);
  const x = (at) => left + (at / Math.max(1, session.length)) * (width - left - right);
  const y = (tokens) => height - bottom - (tokens / roof) * (height - top - bottom);
  const svg = draw("svg", { class: "contexts", width, height, role: "img", "aria-label": "context size over the turns of each agent" });
  for (const tokens of marks) {
    svg.append(draw("line", { x1: left, x2: width - right, y1: y(tokens), y2: y(tokens), class: "grid" }));
    const label = draw("text", { x: width - right + 8, y: y(tokens) + 4 });
    label.textContent = short(tokens);
    svg.append(label);
  }
  for (const at of ticks(session.length, Math.max(2, Math.floor(width / 110))).filter((n) => session.timed || Number.isInteger(n))) {
    const label = draw("text", { x: x(at), y: height - 6, "text-anchor": x(at) > width - right - 20 ? "end" : at === 0 ? "start" : "middle" });
    label.textContent = place(session, at);
    svg.append(label);
  }
  for (const i of chosen.reverse()) svg.append(line(session, i, x, y));
  return { svg, left: numbers.length - chosen.length };
}

function line(session, number, x, y) {
  const { end, context } = session.agents[number].marks;
  const step = Math.ceil(context.length / 1500);
  const points = [];
  for (let i = 0; i < context.length; i += step) {
    let most = 0;
    for (let j = i; j < Math.min(i + step, context.length); j++) most = Math.max(most, context[j]);
    points.push([x(end[i]), y(most)]);
  }
  const group = draw("g");
  group.style.color = colour(number);
  const d = points.map(([px, py], i) => `${i ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
  group.append(draw("path", { d, class: "line" }));
  if (points.length <= 40) for (const [cx, cy] of points) group.append(draw("circle", { cx, cy, r: 3 }));
  const name = draw("title");
  name.textContent = `${title(session.agents[number])}: at most ${session.agents[number].peak} tokens`;
  group.append(name);
  return group;
}
