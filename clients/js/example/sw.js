// Keeps the page's own files, so that it opens without a network, and shows reminders. What the API answers is the client's to keep.
import { chosen, memory, pushed } from "./push.js";

const cache = "nexus-example-2", kept = memory(self.caches);
const show = (title, options) => self.registration.showNotification(title, options);
const files = ["./", "style.css", "app.js", "push.js", ...["agenda", "answers", "client", "copy", "live", "merge", "outbox", "store", "sync"]
  .map((name) => `../src/${name}.js`)];

self.addEventListener("install", (event) => event.waitUntil(
  caches.open(cache).then((c) => c.addAll(files)).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(pushed(event.data.json(), kept, show)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(event.action ? chosen(event.action, event.notification, kept, show, fetch) : self.clients.openWindow("./"));
});
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== location.origin || event.request.method !== "GET") return;
  // The network first: a page that is there is the newest.
  event.respondWith((async () => {
    try {
      const answer = await fetch(event.request);
      if (answer.ok) (await caches.open(cache)).put(url.pathname, answer.clone());
      return answer;
    } catch {
      return await caches.match(url.pathname) ?? Response.error();
    }
  })());
});
