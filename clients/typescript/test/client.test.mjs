// Against a server that runs: RECOLLECT_URL and RECOLLECT_TOKEN name an empty memory.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mock, test } from "node:test";

import { OPERATIONS, Recollect, RecollectProblem, RecollectUnreachable } from "../dist/index.js";

const { RECOLLECT_URL: url, RECOLLECT_TOKEN: token } = process.env;
if (!url || !token) throw new Error("Set RECOLLECT_URL and RECOLLECT_TOKEN to a server that runs.");
const memory = new Recollect({ url, token });

async function all(items) {
  const found = [];
  for await (const each of items) found.push(each);
  return found;
}

/** A way to the server that does something of its own with the first requests. */
async function between(meddle) {
  let seen = 0;
  const keys = [];
  const proxy = createServer(async (request, response) => {
    seen += 1;
    keys.push(request.headers["idempotency-key"]);
    const parts = [];
    for await (const part of request) parts.push(part);
    const headers = { ...request.headers, host: new URL(url).host };
    delete headers["content-length"];
    delete headers["connection"];
    delete headers["transfer-encoding"];
    const passOn = () =>
      fetch(new URL(request.url, url), {
        method: request.method,
        headers,
        ...(parts.length ? { body: Buffer.concat(parts) } : {}),
      });
    if (await meddle(seen, response, passOn)) return;
    const answer = await passOn();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") });
    response.end(await answer.text());
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    keys,
    seen: () => seen,
    close: () => {
      proxy.closeAllConnections();
      return new Promise((done) => proxy.close(done));
    },
  };
}

test("a note is stored, found, corrected, forgotten and brought back", async () => {
  const me = memory.as({ owner: "notes" });
  const { id, created } = await me.remember("Ines drinks oolong after lunch", { tags: ["tea"] });
  assert.equal(created, true);
  const { hits } = await me.recall("What does Ines drink?");
  assert.deepEqual(hits.map((hit) => hit.id), [id]);
  const { text } = await me.context("What does Ines drink?", { budget_tokens: 300 });
  assert.match(text, /oolong/);
  const newer = await me.supersede(id, "Ines drinks sencha after lunch");
  assert.notEqual(newer.id, id);
  const now = (await me.recall("What does Ines drink?")).hits.map((hit) => hit.text);
  assert.deepEqual(now, ["Ines drinks sencha after lunch"]);
  await me.forget(newer.id);
  assert.deepEqual((await me.recall("sencha")).hits, []);
  await me.restore(newer.id);
  assert.equal((await me.get(newer.id)).memory.text, "Ines drinks sencha after lunch");
});

test("an owner's memory is not another's", async () => {
  await memory.as({ owner: "ana" }).remember("Ana keeps bees");
  assert.equal((await all(memory.as({ owner: "ana" }).memories())).length, 1);
  assert.equal((await all(memory.as({ owner: "otto" }).memories())).length, 0);
  const asked = await memory.call("list_memories", {}, { owner: "ana" });
  assert.equal(asked.memories.length, 1);
  const cook = memory.as({ owner: "ana" }).as({ agent: "cook" });
  await cook.remember("Ana's cook likes thyme");
  const theirs = await memory.call("list_memories", {}, { owner: "ana", agent: "cook" });
  assert.deepEqual(theirs.memories.map((each) => each.text), ["Ana's cook likes thyme"]);
});

test("pages are fetched until the last, and only as far as they are read", async () => {
  const me = memory.as({ owner: "pages" });
  await me.rememberMany([1, 2, 3, 4, 5].map((number) => ({ text: `Jar number ${number} is on the shelf` })));
  const listed = await all(me.memories({ limit: 2 }));
  assert.equal(new Set(listed.map((each) => each.id)).size, 5);
  const sizes = [];
  for await (const page of me.pages("list_memories", { limit: 2 })) {
    sizes.push(page.memories.length);
    if (sizes.length === 2) break;
  }
  assert.deepEqual(sizes, [2, 2]);
});

test("sessions and the graph", async () => {
  const me = memory.as({ owner: "graph" });
  await me.sessions.add("monday", [{ role: "user", content: "I moved to Faro" }], { extract: false });
  assert.deepEqual((await all(me.sessions.list())).map((each) => each.name), ["monday"]);
  assert.deepEqual((await all(me.sessions.messages("monday"))).map((each) => each.text), ["I moved to Faro"]);
  await me.graph.createEntities([
    { name: "Ines/Faro é", entityType: "person", observations: ["Keeps bees"] },
    { name: "Otto", entityType: "person", observations: [] },
  ]);
  await me.graph.createRelations([{ from: "Otto", to: "Ines/Faro é", relationType: "knows" }]);
  await me.graph.addObservations([{ entityName: "Otto", contents: ["Mends clocks"] }]);
  const { entities } = await me.graph.open("Ines/Faro é");
  assert.deepEqual(entities.map((each) => each.name), ["Ines/Faro é"]);
  assert.equal((await me.graph.paths("Otto", "Ines/Faro é")).paths.length, 1);
  const graph = await all(me.graph.pages());
  assert.equal(graph.flatMap((page) => page.entities).length, 2);
  await me.graph.delete("Otto");
  await me.sessions.clear("monday");
  assert.equal((await all(me.sessions.list())).length, 0);
});

test("a problem says what was wrong, where, and what to do next", async () => {
  await assert.rejects(memory.get(99_999), (error) => {
    assert.ok(error instanceof RecollectProblem);
    assert.deepEqual([error.status, error.kind], [404, "not-found"]);
    return /no memory 99999/i.test(error.message);
  });
  await assert.rejects(memory.recall("tea", { limit: 0 }), (error) => {
    assert.deepEqual([error.status, error.kind], [422, "invalid-input"]);
    return error.errors.some((each) => each.pointer === "#/limit");
  });
  await assert.rejects(new Recollect({ url, token: "wrong" }).recall("tea"), { status: 401 });
});

test("an edit of what somebody changed meanwhile is refused", async () => {
  const me = memory.as({ owner: "edits" });
  const { id } = await me.remember("Otto mends clocks");
  const { etag } = await me.answer("get_memory", { id });
  await me.update(id, { text: "Otto mends watches" }, { ifMatch: etag });
  await assert.rejects(me.update(id, { text: "Otto sings" }, { ifMatch: etag }), { status: 412 });
});

test("an edit with an ETag whose answer was lost is not repeated: it would be refused for its own sake", async () => {
  const me = memory.as({ owner: "edits" });
  const { id } = await me.remember("Lena plays the oboe");
  const { etag } = await me.answer("get_memory", { id });
  const proxy = await between(async (_seen, response, passOn) => {
    assert.equal((await passOn()).status, 200);
    response.destroy();
    return true;
  });
  try {
    const other = new Recollect({ url: proxy.url, token, owner: "edits" });
    await assert.rejects(other.update(id, { text: "Lena plays the flute" }, { ifMatch: etag }), RecollectUnreachable);
    assert.equal(proxy.seen(), 1);
  } finally {
    await proxy.close();
  }
});

test("a write whose answer was lost is repeated with its key, and written once", async () => {
  const proxy = await between(async (seen, response, passOn) => {
    if (seen > 1) return false;
    assert.equal((await passOn()).status, 201);
    response.destroy();
    return true;
  });
  try {
    const me = new Recollect({ url: proxy.url, token, owner: "lost" });
    const made = await me.remember("Written once");
    assert.equal(made.created, true);
    assert.equal(proxy.seen(), 2);
    assert.ok(proxy.keys[0] && proxy.keys[0] === proxy.keys[1]);
    assert.equal((await all(memory.as({ owner: "lost" }).memories())).length, 1);
  } finally {
    await proxy.close();
  }
});

test("what may not be repeated is not, and a busy server is asked again", async () => {
  const proxy = await between(async (seen, response) => {
    if (seen > 1) return false;
    response.writeHead(503, { "retry-after": "0", "content-type": "application/problem+json" });
    response.end(JSON.stringify({ detail: "Busy." }));
    return true;
  });
  try {
    const me = new Recollect({ url: proxy.url, token, owner: "busy" });
    assert.deepEqual((await me.recall("tea")).hits, []);
    assert.equal(proxy.seen(), 2);
  } finally {
    await proxy.close();
  }
  assert.equal(OPERATIONS.dream.repeatable || OPERATIONS.dream.takesKey, false);
  const refusing = await between(async (_seen, response) => {
    response.destroy();
    return true;
  });
  try {
    const me = new Recollect({ url: refusing.url, token });
    await assert.rejects(me.call("dream", { dry_run: true }), RecollectUnreachable);
    assert.equal(refusing.seen(), 1);
  } finally {
    await refusing.close();
  }
});

test("a server that says nothing is given up, and a caller may stop", async () => {
  const silent = await between(() => true);
  try {
    const me = new Recollect({ url: silent.url, token, timeoutMs: 20, retries: 0 });
    await assert.rejects(me.recall("tea"), (error) => {
      assert.ok(error instanceof RecollectUnreachable);
      return /longer than 20 ms; .*`timeoutMs`/.test(error.message) && error.cause.name === "TimeoutError";
    });
    const stop = new AbortController();
    const asked = memory.as({}).call("recall", { query: "tea" }, { signal: AbortSignal.abort() });
    await assert.rejects(asked, { name: "AbortError" });
    const waiting = new Recollect({ url: silent.url, token }).recall("tea", {}, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, { message: "enough" });
  } finally {
    await silent.close();
  }
  assert.equal(await new Recollect({ url: silent.url }).isReady(), false);
  assert.equal(await memory.isReady(), true);
});

test("long work tells how far it is", async () => {
  const steps = [];
  const me = memory.as({ owner: "notes" });
  const options = { onProgress: (done, total) => steps.push([done, total]) };
  const dream = await me.call("dream", { dry_run: true }, options);
  assert.deepEqual([dream.memories > 0, dream.id], [true, null]);
  assert.ok(steps.length > 0);
  await assert.rejects(me.call("get_memory", { id: 99_999 }, options), { status: 404 });
});

test("what the caller's own onProgress throws comes out as it is, once", async () => {
  const mistake = new RangeError("mine");
  const seen = [];
  const me = new Recollect({ url, token, fetch: (...request) => (seen.push(1), fetch(...request)) }).as({ owner: "notes" });
  const onProgress = () => {
    throw mistake;
  };
  await assert.rejects(me.call("self_test", {}, { onProgress }), (error) => error === mistake);
  assert.equal(seen.length, 1);
});

test("long work may take as long as it likes while it tells of progress, and not when it falls silent", async () => {
  let stream;
  const me = new Recollect({
    url,
    timeoutMs: 1000,
    fetch: async (_url, { signal }) => {
      const body = new ReadableStream({ start: (controller) => void (stream = controller) });
      signal.addEventListener("abort", () => stream.error(signal.reason));
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const tell = (event, data) => stream.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  const begin = () => {
    let heard = () => {};
    const dream = me.call("dream", {}, { onProgress: () => heard() });
    const progress = async () => {
      const next = new Promise((resolve) => (heard = resolve));
      await new Promise(setImmediate);
      tell("progress", { done: 1, total: null });
      await next;
    };
    return { dream, progress };
  };
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const talks = begin();
    for (let step = 0; step < 3; step++) {
      await talks.progress();
      mock.timers.tick(900);
    }
    tell("result", { id: 7 });
    assert.deepEqual(await talks.dream, { id: 7 });
    const silent = begin();
    await silent.progress();
    mock.timers.tick(1000);
    await assert.rejects(silent.dream, /longer than 1000 ms/);
  } finally {
    mock.timers.reset();
  }
});

test("the url may have a path, and may be the one that the server prints for MCP", async () => {
  const asked = [];
  const answer = async (address) => (asked.push(String(address)), Response.json({ hits: [] }));
  for (const given of ["http://box/memory", "http://box/memory/?a=b#c", "http://box/mcp", "http://box/memory/v1/", "http://box"]) {
    const me = new Recollect({ url: given, fetch: answer });
    await me.recall("tea");
    await me.isReady();
  }
  const below = (base) => [`${base}/v1/recall`, `${base}/readyz`];
  const bases = ["http://box/memory", "http://box/memory", "http://box", "http://box/memory", "http://box"];
  assert.deepEqual(asked, bases.flatMap(below));
});

test("an answer of another program is told from silence, and not asked for again", async () => {
  let seen = 0;
  const page = async () => (seen++, new Response("<html>Sign in</html>", { headers: { "content-type": "text/html" } }));
  const me = new Recollect({ url, fetch: page });
  await assert.rejects(me.recall("tea"), (error) => {
    assert.ok(error instanceof RecollectUnreachable);
    return /other than JSON/.test(error.message);
  });
  assert.equal(seen, 1);
});

test("mistakes of the caller never reach the server", async () => {
  assert.throws(() => new Recollect({ url: "ftp://example.org" }), /http/);
  assert.throws(() => new Recollect({ url: "http://me:secret@example.org" }), /token/);
  await assert.rejects(memory.graph.open(".."), /cannot stand in a path/);
  await assert.rejects(memory.graph.open(""), /'name'/);
  await assert.rejects(memory.call("list_memories", { tag: "tea" }), /no argument 'tag'.*tags/);
});
