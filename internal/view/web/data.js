// The parts that a page is made of, read when they are wanted: from the server,
// or from the blocks of the file that the page is.

const inFile = document.getElementById("index") !== null;
const keptParts = 150;
const parts = new Map(); // id to promise, the least used first

// part gives one part.
export function part(id) {
  const known = parts.get(id);
  parts.delete(id);
  const promise = known ?? (inFile ? fromFile(id) : fromServer(id));
  parts.set(id, promise);
  if (parts.size > keptParts) parts.delete(parts.keys().next().value);
  return promise;
}

async function fromServer(id) {
  const answer = await fetch(`/data/${id}.json`);
  if (!answer.ok) throw new Error(`${id}: the server answers ${answer.status}`);
  return answer.json();
}

async function fromFile(id) {
  for (;;) {
    const read = document.readyState !== "loading";
    const block = document.getElementById(id);
    // A block is whole when something follows it, or the file has been read.
    if (block && (read || block.nextElementSibling)) return JSON.parse(block.textContent);
    if (read) throw new Error(`${id}: not in this file`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// breathe lets the page draw, and answer its user.
export function breathe() { return new Promise((resolve) => setTimeout(resolve, 0)); }
