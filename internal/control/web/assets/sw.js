// The service worker: it shows what is pushed, and leads to the page that it is about. Pages are never
// kept by it: they are the daemon's, as they are now.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  let news = {};
  try {
    news = event.data.json();
  } catch {
    return;
  }
  event.waitUntil(self.registration.showNotification(String(news.title), {
    body: String(news.body || ""), tag: String(news.tag || ""), icon: "/icon-192.png", data: { path: String(news.path || "/inbox") },
    actions: (Array.isArray(news.actions) ? news.actions : []).map((a) => ({ action: String(a.path), title: String(a.title) })),
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  if (event.action.startsWith("/act/")) { // a button: it answers without the page
    event.waitUntil(fetch(event.action, { method: "POST", credentials: "omit", redirect: "error" }));
    return;
  }
  const path = event.notification.data && event.notification.data.path;
  const url = new URL(typeof path === "string" && path.startsWith("/") ? path : "/inbox", self.location.origin);
  if (url.origin !== self.location.origin) return;
  event.waitUntil((async () => {
    const windows = await self.clients.matchAll({ type: "window" });
    if (windows.length === 0) return self.clients.openWindow(url.href);
    await windows[0].focus();
    return windows[0].navigate(url.href);
  })());
});
