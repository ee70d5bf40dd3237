// A list of rows of which only the pages near what is in sight are in the
// document; the others keep their height.
import { breathe } from "./data.js";
import { make } from "./dom.js";

// Paged takes the first row of each page, the number of rows, the height that a
// row is guessed to have, and two functions: load gives the rows of a page, row
// the element of one.
export class Paged {
  constructor(panel, first, count, guess, load, row) {
    Object.assign(this, { panel, first, count, load, row, at: 0, wanted: -1 });
    this.pages = first.map((start, i) => {
      const page = make("div", { className: "page", data: { page: i } });
      page.style.height = `${((first[i + 1] ?? count) - start) * guess}px`;
      return page;
    });
    this.filling = new Map();
    panel.replaceChildren(...this.pages);
    this.watch = new IntersectionObserver((entries) => entries.forEach((entry) => this.seen(entry)), { root: panel, rootMargin: "700px 0px" });
    this.pages.forEach((page) => this.watch.observe(page));
  }

  seen(entry) {
    const i = Number(entry.target.dataset.page);
    if (entry.isIntersecting) this.fill(i);
    else if (i !== this.wanted) this.empty(i);
  }

  fill(i) {
    if (!this.filling.has(i)) this.filling.set(i, this.fetch(i));
    return this.filling.get(i);
  }

  async fetch(i) {
    const rows = await this.load(i);
    if (!this.filling.has(i)) return; // out of sight again
    this.pages[i].replaceChildren(...rows.map((row, j) => {
      const element = this.row(row, this.first[i] + j);
      element.dataset.row = this.first[i] + j;
      return element;
    }));
    this.pages[i].style.height = "";
    this.mark();
  }

  empty(i) {
    if (!this.filling.delete(i)) return;
    const page = this.pages[i];
    if (page.childElementCount > 0) page.style.height = `${page.offsetHeight}px`;
    page.replaceChildren();
  }

  pageOf(row) {
    let low = 0, high = this.first.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.first[middle] <= row) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // show scrolls to a row and marks it.
  async show(row) {
    if (this.count === 0) return;
    this.at = row;
    const i = this.pageOf(row);
    this.wanted = i;
    if (!this.filling.has(i)) this.pages[i].scrollIntoView({ block: "start" });
    await this.fill(i);
    // Pages above may still grow; the row is put in its place after them too.
    for (let n = 0; n < 3 && this.at === row; n++) {
      const element = this.element(row);
      const tall = element && element.offsetHeight > this.panel.clientHeight * 0.8;
      element?.scrollIntoView({ block: row === 0 || tall ? "start" : "nearest" });
      await breathe();
    }
    this.mark();
  }

  element(row) { return this.panel.querySelector(`[data-row="${row}"]`); }

  mark() {
    for (const old of this.panel.querySelectorAll(".current")) old.classList.remove("current");
    this.element(this.at)?.classList.add("current");
  }

  // redraw fills what is in sight anew.
  redraw() {
    for (const i of [...this.filling.keys()]) {
      this.empty(i);
      this.fill(i);
    }
  }
}
