// Elements, made without markup.

// make builds an element. Children are elements or strings; properties that
// begin with "on" are listeners, "data" goes to the dataset.
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const svgNames = "http://www.w3.org/2000/svg";

export function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Windowed is a list of which only the rows in sight are in the page. All rows
// are equally high.
export class Windowed {
  constructor(panel, count, height, row) {
    this.panel = panel;
    this.height = height;
    this.row = row;
    this.space = make("div", { className: "window" });
    this.rows = new Map();
    panel.replaceChildren(this.space);
    panel.addEventListener("scroll", () => this.update(), { passive: true });
    new ResizeObserver(() => this.update()).observe(panel);
    this.resize(count);
  }

  resize(count) {
    this.count = count;
    this.space.style.height = `${count * this.height}px`;
    this.update();
  }

  // redraw makes all rows anew.
  redraw() {
    this.rows.clear();
    this.space.replaceChildren();
    this.update();
  }

  update() {
    const seen = Math.min(this.panel.clientHeight, window.innerHeight);
    const first = Math.max(0, Math.floor(this.panel.scrollTop / this.height) - 5);
    const last = Math.min(this.count, Math.ceil((this.panel.scrollTop + seen) / this.height) + 5);
    for (const [i, element] of this.rows) {
      if (i < first || i >= last) {
        element.remove();
        this.rows.delete(i);
      }
    }
    for (let i = first; i < last; i++) {
      if (this.rows.has(i)) continue;
      const element = this.row(i);
      element.style.top = `${i * this.height}px`;
      element.style.height = `${this.height}px`;
      this.rows.set(i, element);
      this.space.append(element);
    }
  }

  // show scrolls a row into sight.
  show(i) {
    const top = i * this.height;
    if (top < this.panel.scrollTop) this.panel.scrollTop = top;
    else if (top + this.height > this.panel.scrollTop + this.panel.clientHeight) this.panel.scrollTop = top + this.height - this.panel.clientHeight;
    this.update();
  }
}
