// What pages do in a browser that runs scripts: they stay current, ages tick, answers can be taken back,
// and keys work. Everything can be read without this file.
"use strict";

// ---- Staying current ---------------------------------------------------------------------------------

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const offline = document.getElementById("offline");
const shortestPause = 3000;
let pause = shortestPause; // before the next attempt
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
  if (!main || !main.dataset.live || source || document.hidden) return;
  const url = new URL(main.dataset.live, location.href);
  url.searchParams.set("have", main.dataset.hash || "");
  source = new EventSource(url);
  source.addEventListener("open", () => {
    offline.hidden = true;
    pause = shortestPause;
  });
  source.addEventListener("main", (event) => {
    main.dataset.hash = event.lastEventId;
    morph(main, event.data);
    document.dispatchEvent(new CustomEvent("stopgate:drawn"));
  });
  source.addEventListener("nav", (event) => morph(nav, event.data));
  source.addEventListener("version", (event) => {
    if (event.data !== document.documentElement.dataset.version) renew();
  });
  source.addEventListener("error", () => {
    offline.hidden = false;
    if (source && source.readyState === EventSource.CLOSED) lost();
  });
}

// lost is when the browser does not connect again by itself: it was refused. One that is signed out is
// shown how to sign in; others try again, ever less often.
async function lost() {
  disconnect();
  const reply = await fetch("/live", { method: "HEAD", credentials: "same-origin" }).catch(() => null);
  if (reply && reply.status === 401) {
    offline.textContent = "You are signed out here. Run stopgate ui for a new link.";
    renew();
    return;
  }
  setTimeout(connect, pause);
  pause = Math.min(2 * pause, 60000);
}

// renew loads the page again, unless a person would lose something by it.
function renew() {
  const typed = [...document.querySelectorAll("textarea")].some((field) => field.value !== "");
  if (!typed && held.size === 0) location.reload();
}

function disconnect() {
  if (source) source.close();
  source = null;
}

function reconnect() {
  disconnect();
  if (main) main.dataset.hash = "";
  connect();
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

// ---- Answers -----------------------------------------------------------------------------------------

// An answer is held for a moment, in which it can be taken back. It is sent at once when the page is left.
const holdTime = 5000;
const held = new Map(); // by the form

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.hasAttribute("data-answer")) return;
  event.preventDefault();
  hold(form, event.submitter);
});

// A form in which a person has typed or chosen something is not drawn again.
document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form && form.hasAttribute("data-answer")) form.dataset.touched = "1";
});

function hold(form, button) {
  if (held.has(form)) return;
  const body = new URLSearchParams(new FormData(form));
  if (button && button.name) body.set(button.name, button.value);
  const card = form.closest("[data-card]");
  const name = button ? (button.querySelector("b") || button).textContent.trim() : "";
  const bar = document.createElement("div");
  bar.className = "held";
  bar.setAttribute("role", "status");
  const words = document.createElement("p");
  words.textContent = "Your answer: " + name;
  const undo = document.createElement("button");
  undo.type = "button";
  undo.textContent = "Undo";
  undo.addEventListener("click", () => release(form));
  bar.append(words, undo);
  form.hidden = true;
  form.after(bar);
  card.dataset.still = "";
  card.classList.add("answered");
  held.set(form, { body, bar, card, timer: setTimeout(() => sendAnswer(form), holdTime) });
  card.focus({ preventScroll: true }); // not the button: the key that answered would press it
}

// release gives an answer back to the person.
function release(form) {
  const answer = held.get(form);
  if (!answer) return;
  clearTimeout(answer.timer);
  held.delete(form);
  answer.bar.remove();
  form.hidden = false;
  delete answer.card.dataset.still;
  answer.card.classList.remove("answered");
  answer.card.focus({ preventScroll: true });
}

async function sendAnswer(form) {
  const answer = held.get(form);
  if (!answer || answer.sent) return;
  answer.sent = true;
  clearTimeout(answer.timer);
  answer.bar.querySelector("button").disabled = true;
  try {
    const reply = await fetch(form.action, {
      method: "POST", body: answer.body, keepalive: true, credentials: "same-origin", redirect: "error", headers: { "Stopgate-Script": "1" },
    });
    if (!reply.ok) throw new Error((await reply.text()) || reply.statusText);
    held.delete(form);
    delete answer.card.dataset.still;
    answer.bar.querySelector("p").textContent = "Answered.";
    answer.bar.querySelector("button").remove();
    reconnect(); // the page may have been drawn while the card was held
  } catch (error) {
    answer.sent = false;
    release(form);
    toast("The answer was rejected: " + error.message, true);
  }
}

function sendAll() {
  for (const form of [...held.keys()]) sendAnswer(form);
}

addEventListener("pagehide", sendAll);
document.addEventListener("visibilitychange", () => { if (document.hidden) sendAll(); });

// ---- Keys --------------------------------------------------------------------------------------------

const cards = () => [...document.querySelectorAll("[data-card]")];
const currentCard = () => document.activeElement && document.activeElement.closest("[data-card]");

function moveTo(step) {
  const all = cards();
  if (all.length === 0) return;
  const at = all.indexOf(currentCard());
  const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start", behavior: "auto" });
}

function press(selector) {
  const card = currentCard() || cards()[0];
  const button = card && !card.classList.contains("answered") && card.querySelector(selector);
  if (button) button.click();
  return Boolean(button);
}

const keys = document.getElementById("keys");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  if (target.matches("input, textarea, select") || (keys && keys.open)) return;
  let done = true;
  if (event.key === "j") moveTo(1);
  else if (event.key === "k") moveTo(-1);
  else if (event.key === "u") { const last = [...held.keys()].pop(); if (last) release(last); }
  else if (event.key === "?" && keys) keys.showModal();
  else if (/^[1-9]$/.test(event.key)) done = press(`button[data-key="${event.key}"]`);
  else if (event.key === "Enter" && target.hasAttribute("data-card")) done = press("button.main");
  else done = false;
  if (done) event.preventDefault();
});

// ---- Notifications -----------------------------------------------------------------------------------

const pushKey = document.documentElement.dataset.push;
const base64url = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// offerPush shows the button by which a person has this device told, or told no more.
async function offerPush() {
  const item = document.getElementById("push");
  if (!item || !pushKey || !("PushManager" in window)) return;
  const form = item.querySelector("form");
  const worker = await navigator.serviceWorker.ready;
  const label = (subscription) => { form.querySelector("span").textContent = subscription ? "Do not notify this device" : "Notify this device"; };
  const send = (path, fields) => fetch(path, {
    method: "POST", credentials: "same-origin", redirect: "error", headers: { "Stopgate-Script": "1" },
    body: new URLSearchParams({ csrf: new FormData(form).get("csrf"), ...fields }),
  }).then(async (reply) => { if (!reply.ok) throw new Error(await reply.text()); });
  label(await worker.pushManager.getSubscription());
  item.hidden = false;
  form.querySelector("button").addEventListener("click", async () => {
    try {
      let subscription = await worker.pushManager.getSubscription();
      if (subscription) {
        await send("/push/off", {});
        await subscription.unsubscribe();
        subscription = null;
      } else {
        subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: pushKey });
        await send("/push", { endpoint: subscription.endpoint, key: base64url(subscription.getKey("p256dh")), auth: base64url(subscription.getKey("auth")) });
      }
      label(subscription);
      toast(subscription ? "This device gets a notification when a decision is waiting." : "This device no longer gets notifications.");
    } catch (error) {
      toast("Could not change notifications: " + error.message, true);
    }
  });
}

// ---- Beginning ---------------------------------------------------------------------------------------

document.documentElement.classList.add("scripted");
if (main) {
  refreshTimes(document);
  setInterval(() => refreshTimes(document), 15000);
  connect();
  if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js").then(offerPush).catch(() => {}); // no push, then
}
document.documentElement.dataset.ready = "1"; // for tests
