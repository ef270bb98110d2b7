// A service worker, which a page asks for when its reader first starts Python.
// The pages and workers of the book then come with the two headers that let a
// page share memory with its worker, by which a cell is interrupted.  Nothing
// is kept, and nothing else is touched.
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { mode, destination } = event.request;
  if (mode === "navigate" || destination === "worker") event.respondWith(isolated(event.request));
});

async function isolated(request) {
  const answer = await fetch(request);
  if (!answer.status) return answer; // to another address: the browser follows
  const headers = new Headers(answer.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  return new Response(answer.body, { status: answer.status, headers });
}
