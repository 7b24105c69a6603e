// Keys for what the pages have as links and buttons. Without this file everything works, too.
"use strict";

const items = () => [...document.querySelectorAll("[data-item]")].filter((each) => each.offsetParent);
const current = () => document.activeElement?.closest("[data-item]");
let going = 0; // when g was pressed

function move(step) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1);
  all[next].focus({ preventScroll: true });
  all[next].scrollIntoView({ block: "nearest" });
}

function press(key) {
  // a key counts for what the person has seen: without a chosen item the first one is chosen
  if (!current() && document.querySelector(`.cards [data-key="${CSS.escape(key)}"]`)) {
    move(1);
    return true;
  }
  const named = `[data-key="${CSS.escape(key)}"]`;
  const inside = current()?.querySelector(named);
  const alone = document.querySelectorAll(named);
  const outside = [...alone].filter((each) => !each.closest("[data-item]"));
  const found = inside || (outside.length === 1 ? outside[0] : null);
  if (found) found.click();
  return Boolean(found);
}

function help() {
  const keys = document.getElementById("keys");
  if (!keys.open) keys.showModal();
}

function go(key) {
  const found = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
  if (found) found.click();
  return Boolean(found);
}

const named = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.getElementById("find").focus(),
  "?": help,
  n: () => document.querySelector('[data-page="next"]')?.click(),
  p: () => document.querySelector('[data-page="prev"]')?.click(),
  g: () => { going = Date.now(); },
};

function isTyping(target) {
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.getElementById("keys").open) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const key = event.key;
  if (going && Date.now() - going < 1500 && key !== "g") {
    going = 0;
    if (go(key)) event.preventDefault();
    return;
  }
  if (key === "Enter" && event.target.matches("[data-item]")) {
    event.target.querySelector("[data-open]")?.click();
  } else if (key.length === 1 && press(key)) {
    event.preventDefault();
  } else if (named[key]) {
    named[key]();
    event.preventDefault();
  }
});

document.querySelector("[data-help]").addEventListener("click", (event) => {
  event.preventDefault();
  help();
});

// A form is sent once: a second key or click while the answer is on its way counts for nothing.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// What is on its way is asked for again, at the same place, unless the person goes elsewhere first.
if (document.querySelector(".stale")) {
  const again = setTimeout(() => location.reload(), 700);
  addEventListener("beforeunload", () => clearTimeout(again));
}

// After an answer go on at the item that the address names.
const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
if (target && target.matches("[data-item]")) target.focus();
