// Requests to the server. A question waits quietly while the server is gone; a demand, which changes something, fails at once.

const AGAIN = 1000; // milliseconds until a server that is gone is asked again
const listeners = new Set();
let gone = false;
let waiting = null; // a promise that is kept when the server is back

/** What the server refused, in its own words: a problem, what was found and a fix. */
export class Refused extends Error {
  constructor(status, { problem, found = "", fix = "", ...more } = {}) {
    super(problem ?? `HTTP ${status}`);
    Object.assign(this, { status, problem: problem ?? `HTTP ${status}`, found, fix, ...more });
  }
}

/** The server does not answer. */
export class ServerGone extends Error {}

/** Be told whenever the server is gone (true) or back (false). */
export function onConnection(told) {
  listeners.add(told);
  return () => listeners.delete(told);
}

function setGone(now) {
  if (now === gone) return;
  gone = now;
  listeners.forEach((told) => told(gone));
}

function untilBack() {
  setGone(true);
  waiting ??= (async () => {
    for (;;) {
      await new Promise((kept) => setTimeout(kept, AGAIN));
      try {
        const answer = await fetch("/healthz", { cache: "no-store" });
        if (answer.ok) break;
      } catch {
        // it is still gone
      }
    }
    waiting = null;
    setGone(false);
  })();
  return waiting;
}

async function once(path, options) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerGone();
  }
  setGone(false);
  const found = await contentOf(answer);
  if (!answer.ok) throw new Refused(answer.status, found?.error ?? {});
  return found;
}

async function contentOf(answer) {
  try {
    return await answer.json();
  } catch {
    return null;
  }
}

export const api = {
  /** Ask; while the server is gone, wait and ask again. */
  get: (path, options = {}) => patiently(path, options),

  /** Ask with a body, for what changes nothing. */
  ask: (path, body) => patiently(path, posted(body)),

  /** Demand something; `body` travels as JSON. */
  async post(path, body = {}, options = {}) {
    return demand(path, { ...posted(body), ...options });
  },

  /** Send the bytes of a file. */
  async upload(path, file) {
    return demand(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
  },

  /** The path of a run's endpoint: api.run("numbers-1", "events"). */
  run(id, ...rest) {
    return ["/api/runs", encodeURIComponent(id), ...rest].join("/");
  },
};

function posted(body) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

async function patiently(path, options) {
  for (;;) {
    try {
      return await once(path, options);
    } catch (error) {
      if (!(error instanceof ServerGone)) throw error;
      await untilBack();
      options.signal?.throwIfAborted();
    }
  }
}

async function demand(path, options) {
  try {
    return await once(path, options);
  } catch (error) {
    if (error instanceof ServerGone) untilBack();
    throw error;
  }
}

/** Ask every `every` milliseconds until stopped; `told` gets each answer and may return false to end. Returns stop(). */
export function poll(ask, told, failed, every = 1000) {
  const control = new AbortController();
  (async () => {
    while (!control.signal.aborted) {
      try {
        const answer = await ask(control.signal);
        if (control.signal.aborted || (await told(answer)) === false) return;
      } catch (error) {
        if (control.signal.aborted || error.name === "AbortError") return;
        failed(error);
        return;
      }
      await new Promise((kept) => setTimeout(kept, every));
    }
  })();
  return () => control.abort();
}
