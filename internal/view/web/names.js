// The names of sessions, which are paths: as short as they can be told apart by.
import { make } from "./dom.js";
import { fill, visible } from "./text.js";

// shortNames leaves out the folders that all of the names begin with.
export function shortNames(names) {
  if (names.length < 2) return names;
  let common = names[0].slice(0, names[0].lastIndexOf("/") + 1);
  for (const name of names) {
    while (!name.startsWith(common)) common = common.slice(0, common.slice(0, -1).lastIndexOf("/") + 1);
  }
  return names.map((name) => name.slice(common.length));
}

const kept = 24; // characters of a name's end that are always shown

// cutName shows a name whose middle goes where there is no room for all.
export function cutName(name) {
  const characters = [...name];
  const head = make("span", { className: "cut-head", dir: "auto" });
  const tail = make("span", { className: "cut-tail", dir: "auto" });
  fill(head, characters.slice(0, -kept).join(""));
  fill(tail, characters.slice(-kept).join(""));
  return make("span", { className: "cut" }, head, tail);
}

const optionHead = 6, optionTail = 24; // characters of a name in a box of choices that is cut

// options are the choices of a box, each with its whole name as a title.
export function options(names) {
  return shortNames(names).map((name, i) => {
    const shown = [...visible(name)];
    const short = shown.length > optionHead + 1 + optionTail ? [...shown.slice(0, optionHead), "…", ...shown.slice(-optionTail)] : shown;
    return make("option", { value: String(i), title: visible(names[i]) }, short.join(""));
  });
}
