// What is shown of texts: everything in them can be seen, and nothing of them
// is ever markup.

// Characters without ink of their own, and those that turn the direction of
// what follows.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/u;
const hiddenAll = new RegExp(hidden.source, "gu");
const names = { "\0": "NUL", "\r": "CR", "\x1b": "ESC", "\xa0": "NBSP", "\ufeff": "BOM" };

function nameOf(character) {
  const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return `‹${names[character] ?? `U+${code}`}›`;
}

// visible gives a short text in one string.
export function visible(text) {
  return hidden.test(text) ? text.replace(hiddenAll, nameOf) : text;
}

// fill puts a text into an element: hidden characters by their names, and what
// was searched for marked.
export function fill(element, text, query = "") {
  element.replaceChildren();
  const low = query ? text.toLowerCase() : "";
  // A letter whose small form is longer would move all places behind it.
  const places = query && low.length === text.length ? low : "";
  let at = 0;
  for (let hit = places ? places.indexOf(query) : -1; hit >= 0; hit = places.indexOf(query, at)) {
    fillPlain(element, text.slice(at, hit));
    const mark = document.createElement("mark");
    fillPlain(mark, text.slice(hit, hit + query.length));
    element.append(mark);
    at = hit + query.length;
  }
  fillPlain(element, text.slice(at));
}

// fillText puts a message into an element. The line ends that it begins with are
// named in one line: a hole would look like no text at all.
export function fillText(element, text, query = "") {
  const empty = text.match(/^\n*/)[0].length;
  fill(element, text.slice(empty), query);
  if (empty === 0) return;
  const name = document.createElement("span");
  name.className = "hidden-char";
  name.textContent = empty > 3 ? `‹${empty} line ends›` : "‹LF›".repeat(empty);
  element.prepend(name, empty < text.length ? "\n" : "");
}

function fillPlain(element, text) {
  if (!hidden.test(text)) {
    if (text) element.append(text);
    return;
  }
  let at = 0;
  for (const match of text.matchAll(hiddenAll)) {
    if (match.index > at) element.append(text.slice(at, match.index));
    const name = document.createElement("span");
    name.className = "hidden-char";
    name.textContent = nameOf(match[0]);
    element.append(name);
    at = match.index + match[0].length;
  }
  if (at < text.length) element.append(text.slice(at));
}

const numbers = new Intl.NumberFormat("en");

export function number(n) { return numbers.format(n); }

export function counted(n, noun) { return `${number(n)} ${noun}${n === 1 ? "" : "s"}`; }

// duration writes milliseconds.
export function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.floor(ms / 60_000)} min ${Math.round(ms / 1000) % 60} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round(ms / 60_000) % 60} min`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1 << 20) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / (1 << 20)).toFixed(1)} MB`;
}

// short writes a count of tokens in a few characters.
export function short(n) {
  if (n < 1000) return `${n}`;
  if (n < 100_000) return `${(n / 1000).toFixed(1)}k`;
  if (n < 1e6) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toFixed(1)}M`;
}
