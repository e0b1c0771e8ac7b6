"use strict";
(() => {
  dressCode(document);
  const tree = document.getElementById("tree");
  const items = [...tree.children];
  const parent = [], item = [], next = [];
  for (const each of items) {
    const n = +each.dataset.n;
    item[n] = each;
    parent[n] = +each.dataset.p;
  }
  for (let n = 0; n < parent.length; n++) if (parent[n] >= 0) next[parent[n]] = n;
  const element = (n) => document.getElementById("e" + n);
  const active = new Set(items.filter((each) => each.classList.contains("on")).map((each) => +each.dataset.n));
  let shown = active;

  // The path through an entry: up to the root, and down to where its newest branch ends.
  function through(n) {
    const path = new Set();
    for (let up = n; up >= 0 && !path.has(up); up = parent[up]) path.add(up);
    for (let down = next[n]; down !== undefined && !path.has(down); down = next[down]) path.add(down);
    return path;
  }
  function show(path) {
    for (const [from, to, on] of [[shown, path, false], [path, shown, true]])
      for (const n of from)
        if (!to.has(n)) {
          item[n].classList.toggle("on", on);
          element(n)?.classList.toggle("off", !on);
        }
    shown = path;
    document.body.classList.toggle("elsewhere", shown !== active);
  }
  function follow() {
    const found = /^#e(\d+)$/.exec(location.hash);
    const n = found ? +found[1] : -1;
    for (const old of tree.querySelectorAll(".here")) old.classList.remove("here");
    if (n < 0) show(active);
    if (!item[n]) return;
    if (!shown.has(n)) show(active.has(n) ? active : through(n));
    item[n].classList.add("here");
    const target = element(n);
    if (!target) return;
    for (let up = target.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();

  const find = document.getElementById("find");
  const filter = document.getElementById("filter");
  let texts;
  function search() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    texts ??= items.map((each) => each.textContent.toLowerCase());
    items.forEach((each, i) => each.classList.toggle("miss", !words.every((word) => texts[i].includes(word))));
  }
  find.addEventListener("input", search);
  filter.addEventListener("change", () => { tree.dataset.filter = filter.value; });
  tree.addEventListener("click", (event) => {
    if (event.target.closest("a") && matchMedia("(max-width: 60rem)").matches) nav.checked = false;
  });

  const nav = document.getElementById("nav");
  function unfold(selector) {
    const all = [...document.querySelectorAll(selector)];
    const open = all.some((each) => !each.open);
    for (const each of all) each.open = open;
  }
  function step(by) {
    const all = [...document.querySelectorAll("#log > article:not(.off)")];
    const here = all.map((each) => each.getBoundingClientRect().top);
    // Where scrollIntoView leaves a message is between the two.
    const place = by > 0 ? here.findIndex((top) => top > 40) : here.findLastIndex((top) => top < 24);
    all[place]?.scrollIntoView();
  }
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    t: () => unfold("details.thinking"),
    o: () => unfold("#log .tool details, #log .bash details"),
    b: () => { nav.checked = !nav.checked; },
    "/": () => { if (!find.offsetParent) nav.checked = !nav.checked; find.focus(); },
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") { find.value = ""; search(); find.blur(); }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input[type=search], select")) return;
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
})();
