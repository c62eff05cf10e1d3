/** Sends one operation: builds the request, waits no longer than allowed, and repeats what may be repeated. */
import { RecollectProblem, RecollectUnreachable } from "./errors.js";
import { resultOfEvents } from "./events.js";
import { OPERATIONS } from "./operations.js";
import type { Answer, Arguments, CallOptions, OperationName, Result } from "./types.js";

/** How to reach a server. */
export interface ServerOptions {
  /** Such as `http://127.0.0.1:7438`, or with the path under which a proxy has it. */
  readonly url: string | URL;
  /** What `recollect serve --http` prints, or `recollect token create` makes. */
  readonly token?: string | undefined;
  /**
   * How long an attempt may take; 60 seconds if not given, as long as the server gives a call that reads. With
   * `onProgress`, how long the server may be silent: each event starts the time anew.
   */
  readonly timeoutMs?: number;
  /** How often a call that may be repeated is tried again; 2 if not given. */
  readonly retries?: number;
  /** Another `fetch`, for tests and proxies. */
  readonly fetch?: typeof fetch;
}

interface Row {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly takesKey: boolean;
  readonly repeatable: boolean;
}

const TIMEOUT_MS = 60_000;
// Timers take no more; it is 24 days.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 10_000;
// The server was too busy, or cannot reach its store just now; nothing was done.
const TRY_AGAIN = new Set([429, 503]);

export class Transport {
  readonly #base: URL;
  readonly #token: string | undefined;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor({ url, token, timeoutMs = TIMEOUT_MS, retries = 2, fetch: own }: ServerOptions) {
    this.#base = baseUrl(url);
    this.#token = token;
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#fetch = own ?? ((...request) => fetch(...request));
  }

  async send<O extends OperationName>(
    operation: O,
    given: Arguments<O>,
    options: CallOptions,
  ): Promise<Answer<O>> {
    const row: Row = OPERATIONS[operation];
    const [url, init] = this.#request(operation, row, given as Record<string, unknown>, options);
    // With `ifMatch` and without a key, a repeated edit would be refused because of the first one.
    const repeatable = row.takesKey || (row.repeatable && options.ifMatch === undefined);
    const attempts = repeatable ? 1 + this.#retries : 1;
    for (let attempt = 1; ; attempt++) {
      const limit = new TimeLimit(options.timeoutMs ?? this.#timeoutMs, options.signal);
      let response: Response | undefined;
      try {
        response = await this.#fetch(url, { ...init, signal: limit.signal });
        if (response.ok) return await answerOf<O>(response, options, limit);
        throw await problemOf(response);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (error instanceof CallbackError) throw error.cause;
        const waits = error instanceof RecollectProblem ? TRY_AGAIN.has(error.status) : !isForeign(error);
        if (attempt >= attempts || !waits) throw unreachable(error, url, limit);
      } finally {
        limit.end();
      }
      await pause(delay(attempt, response), options.signal);
    }
  }

  /** A path that needs no token, such as `/readyz`. */
  async probe(path: string, options: CallOptions): Promise<boolean> {
    const limit = new TimeLimit(options.timeoutMs ?? this.#timeoutMs, options.signal);
    try {
      const headers = { accept: "application/json" };
      const response = await this.#fetch(this.#url(path), { headers, redirect: "error", signal: limit.signal });
      await response.body?.cancel();
      return response.ok;
    } catch {
      options.signal?.throwIfAborted();
      return false;
    } finally {
      limit.end();
    }
  }

  #request(
    operation: string,
    row: Row,
    given: Record<string, unknown>,
    options: CallOptions,
  ): [URL, RequestInit] {
    const rest = new Map(Object.entries(given).filter(([, value]) => value !== undefined));
    const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest.get(name);
      rest.delete(name);
      return pathSegment(operation, name, value);
    });
    const url = this.#url(path);
    for (const name of ["owner", "agent"] as const) {
      if (options[name] !== undefined) url.searchParams.set(name, options[name]);
    }
    const headers = new Headers({ accept: "application/json" });
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    if (options.onProgress !== undefined) headers.set("accept", "text/event-stream");
    if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
    if (row.takesKey) headers.set("idempotency-key", options.idempotencyKey ?? crypto.randomUUID());
    // The API answers under the address it is asked at: a redirect would carry the token elsewhere.
    const init: RequestInit = { method: row.method, headers, redirect: "error" };
    if (row.method === "GET" || row.method === "DELETE") {
      for (const [name, value] of rest) {
        if (!row.query.includes(name)) {
          const names = row.query.join(", ") || "only what its path names";
          throw new TypeError(`${operation} takes no argument '${name}'; it takes: ${names}.`);
        }
        if (value === null) continue;
        for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
      }
    } else {
      headers.set("content-type", "application/json");
      init.body = JSON.stringify(Object.fromEntries(rest));
    }
    return [url, init];
  }

  /** A path of the API, under the path of the server's own address. */
  #url(path: string): URL {
    return new URL(path.slice(1), this.#base);
  }
}

/** Ends an attempt that takes too long, or that the caller no longer wants. */
class TimeLimit {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(milliseconds: number, callers: AbortSignal | undefined) {
    this.milliseconds = Math.min(milliseconds, LONGEST_TIMEOUT_MS);
    this.signal = callers ? AbortSignal.any([callers, this.#stop.signal]) : this.#stop.signal;
    this.restart();
  }

  restart(): void {
    clearTimeout(this.#timer);
    const stop = () => this.#stop.abort(new DOMException("It took too long.", "TimeoutError"));
    this.#timer = setTimeout(stop, this.milliseconds);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** `onProgress` threw: its error is the caller's own, and no reason to try again. */
class CallbackError extends Error {}

function baseUrl(given: string | URL): URL {
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`The url must begin with http:// or https://, not ${url.protocol}//.`);
  }
  if (url.username || url.password) {
    throw new TypeError("The url must hold no user name or password; give the token as `token`.");
  }
  url.search = url.hash = "";
  // `recollect serve --http` prints the address of MCP.
  url.pathname = url.pathname.replace(/(\/(mcp|v1))?\/*$/, "/");
  return url;
}

function pathSegment(operation: string, name: string, value: unknown): string {
  if ((typeof value !== "string" && typeof value !== "number") || value === "") {
    throw new TypeError(`${operation} needs '${name}': a text or a number that is not empty.`);
  }
  if (value === "." || value === "..") {
    // Whatever reads a URL takes these for steps of the path, however they are written.
    throw new TypeError(`'${value}' cannot stand in a path; use an operation that takes '${name}' in its body.`);
  }
  return encodeURIComponent(value);
}

async function answerOf<O extends OperationName>(
  response: Response,
  { onProgress }: CallOptions,
  limit: TimeLimit,
): Promise<Answer<O>> {
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream");
  const data = streams
    ? await resultOfEvents(response, (done, total) => {
        limit.restart();
        try {
          onProgress?.(done, total);
        } catch (error) {
          throw new CallbackError("onProgress threw", { cause: error });
        }
      })
    : await response.json();
  return { data: data as Result<O>, status: response.status, etag: response.headers.get("etag") };
}

async function problemOf(response: Response): Promise<RecollectProblem> {
  const text = await response.text();
  try {
    return new RecollectProblem(response.status, JSON.parse(text));
  } catch {
    // Something between us and the server answered.
    return new RecollectProblem(response.status);
  }
}

/** Whether what answered is another program, such as a proxy with a page of its own. */
function isForeign(error: unknown): boolean {
  return error instanceof SyntaxError;
}

function unreachable(error: unknown, url: URL, limit: TimeLimit): unknown {
  if (error instanceof RecollectProblem || error instanceof RecollectUnreachable) return error;
  return new RecollectUnreachable(`The server at ${url.origin} ${reason(error, limit)}`, { cause: error });
}

function reason(error: unknown, limit: TimeLimit): string {
  if (limit.signal.aborted) return `took longer than ${limit.milliseconds} ms; give it more with \`timeoutMs\`.`;
  if (isForeign(error)) return "answered with something other than JSON. Is it Recollect's, and is the url right?";
  return "did not answer. Is `recollect serve --http` running there?";
}

function delay(attempt: number, response: Response | undefined): number {
  const asked = Number(response?.headers.get("retry-after") ?? NaN) * 1000;
  // Spread, so that many clients do not come back at once.
  const own = FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
  return Math.min(Number.isFinite(asked) ? asked : own, LONGEST_DELAY_MS);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
