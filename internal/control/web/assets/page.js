// What pages do in a browser that runs scripts: they stay current, ages tick, answers can be taken back,
// and keys work. Everything can be read without this file.
"use strict";

// ---- Staying current ---------------------------------------------------------------------------------

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const offline = document.getElementById("offline");
let source = null;

// morph changes an element into what the server has drawn, and leaves alone what a person does in it:
// what is opened stays open, what is typed stays, and the focus stays where it is.
function morph(element, html) {
  Idiomorph.morph(element, html, {
    morphStyle: "innerHTML",
    ignoreActiveValue: true,
    callbacks: {
      beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
      beforeNodeMorphed: (old, next) => {
        if (!(old instanceof Element)) return true;
        if (old.hasAttribute("data-still")) return false; // a chart, or an answer that is held
        if (old.matches("time[datetime]") && old.getAttribute("datetime") === next.getAttribute("datetime")) return false;
        if (old.matches("input, textarea, select") && old.form && old.form.dataset.touched) return false;
        return true;
      },
      beforeNodeRemoved: (node) => !(node instanceof Element && node.hasAttribute("data-still")),
    },
  });
  if (window.htmx) htmx.process(element);
  refreshTimes(element);
}

function connect() {
  if (!main || !main.dataset.live || source) return;
  const url = new URL(main.dataset.live, location.href);
  url.searchParams.set("have", main.dataset.hash || "");
  source = new EventSource(url);
  source.addEventListener("open", () => { offline.hidden = true; });
  source.addEventListener("main", (event) => {
    main.dataset.hash = event.lastEventId;
    morph(main, event.data);
    document.dispatchEvent(new CustomEvent("stopgate:drawn"));
  });
  source.addEventListener("nav", (event) => morph(nav, event.data));
  source.addEventListener("version", (event) => {
    const typed = [...document.querySelectorAll("textarea")].some((field) => field.value !== "");
    if (event.data !== document.documentElement.dataset.version && !typed && held.size === 0) location.reload();
  });
  source.addEventListener("error", () => {
    if (source && source.readyState === EventSource.CLOSED) {
      disconnect();
      setTimeout(connect, 3000);
    }
    offline.hidden = false;
  });
}

function disconnect() {
  if (source) source.close();
  source = null;
}

// A browser has only a few connections to one host: pages that are not seen give theirs back.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) disconnect();
  else connect();
});

// ---- Times -------------------------------------------------------------------------------------------

// The words are those of ageText in page.go.
function ageText(ms) {
  const minutes = Math.floor(ms / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return minutes + " min";
  if (minutes < 24 * 60) return Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
  return Math.floor(minutes / 60 / 24) + " d " + (Math.floor(minutes / 60) % 24) + " h";
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const clockForm = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

function refreshTimes(within) {
  for (const t of within.querySelectorAll("time[data-age]")) setText(t, ageText(Date.now() - Date.parse(t.dateTime)));
  for (const t of within.querySelectorAll("time[data-clock]")) setText(t, clockForm.format(new Date(t.dateTime)));
}

// ---- Messages ----------------------------------------------------------------------------------------

const toasts = document.getElementById("toasts");

function toast(text, bad) {
  const box = document.createElement("p");
  box.className = bad ? "toast bad" : "toast";
  box.textContent = text;
  toasts.append(box);
  setTimeout(() => box.remove(), bad ? 12000 : 5000);
}

const held = new Map();

// ---- Beginning ---------------------------------------------------------------------------------------

if (main) {
  refreshTimes(document);
  setInterval(() => refreshTimes(document), 15000);
  connect();
  if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js").catch(() => {}); // no push, then
}
