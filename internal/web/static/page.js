// Follows the stream of changes, fetches this page anew, and puts the parts that are marked data-live in place when they
// have changed. Nothing is made of strings: the browser parses the page, and runs none of its scripts.
"use strict";

const parts = [...document.querySelectorAll("[data-live][id]")].map((part) => part.id);
const about = document.getElementById("main").dataset.about;
const state = document.getElementById("live");
const news = document.getElementById("news");

const pause = 1000; // between two fetches, in milliseconds
const stale = 10000; // times that are left grow shorter without any change
let stream, timer, fetching = false, wanted = false, last = Date.now();

function connected(on) {
  state.textContent = on ? "live" : "not live";
  state.classList.toggle("on", on);
}

function follow() {
  stream = new EventSource("./live");
  stream.onopen = () => connected(true);
  stream.onerror = () => connected(false); // it comes back by itself
  stream.onmessage = (event) => {
    const change = JSON.parse(event.data);
    if (!about || change.more || change.deletion === about) refresh();
  };
}

// refresh fetches soon, once for all changes until then.
function refresh() {
  wanted = true;
  if (fetching || timer || document.hidden) return;
  timer = setTimeout(load, Math.max(0, last + pause - Date.now()));
}

function load() {
  timer = undefined;
  fetching = true;
  wanted = false;
  const request = new XMLHttpRequest();
  request.open("GET", location.href);
  request.responseType = "document";
  request.timeout = 30000;
  request.onloadend = () => {
    fetching = false;
    last = Date.now();
    const page = request.response;
    if (request.status === 401 || page?.forms.namedItem("signin")) say("You are signed out. Load the page again to sign in.");
    else if (request.status === 200 && page) show(page);
    if (wanted) refresh();
  };
  request.send();
}

function show(page) {
  let words = "";
  for (const id of parts) {
    const now = document.getElementById(id), then = page.getElementById(id);
    if (!now || !then || now.isEqualNode(then)) continue;
    if (now.querySelector("details[open]") && then.querySelector("details")) continue; // somebody fills its form in
    const focus = now.contains(document.activeElement) ? mark(document.activeElement) : undefined;
    const fresh = document.importNode(then, true);
    now.replaceWith(fresh);
    if (focus) (find(fresh, focus) ?? document.getElementById("main")).focus({preventScroll: true});
    if (fresh.dataset.say) words = fresh.dataset.say;
  }
  if (words) say(words);
}

// mark tells how to find an element again in what takes its place.
function mark(element) {
  return {id: element.id, href: element.getAttribute("href")};
}

function find(root, focus) {
  for (const element of root.querySelectorAll("a, button, summary")) {
    if (focus.id ? element.id === focus.id : focus.href && element.getAttribute("href") === focus.href) return element;
  }
  return undefined;
}

function say(words) {
  if (news.textContent !== words) news.textContent = words;
}

if (parts.length > 0) {
  follow();
  setInterval(() => { if (Date.now() - last > stale) refresh(); }, stale);
  // A hidden page holds no connection: browsers have few for one server.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      stream.close();
      connected(false);
    } else {
      follow();
      refresh();
    }
  });
} else {
  state.hidden = true;
}
