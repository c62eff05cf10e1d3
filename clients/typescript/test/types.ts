// Read by the compiler alone: what it must accept, and what it must refuse.
import { Recollect } from "../src/index.js";
import type { Arguments, Result } from "../src/index.js";

export async function calls(memory: Recollect): Promise<void> {
  const made: Result<"remember"> = await memory.remember("Ines drinks oolong", { tags: ["tea"] });
  const id: number = made.id;
  const hit: string | undefined = (await memory.recall("tea", { kinds: ["note"], limit: 3 })).hits[0]?.text;
  for await (const row of memory.memories({ limit: 5 })) row.text satisfies string;
  for await (const page of memory.pages("read_graph")) page.entities satisfies object[];
  await memory.call("stats");
  await memory.call("restore", { id });
  const given: Arguments<"find_paths"> = { from: "Ines", to: hit ?? "Otto" };
  await memory.call("find_paths", given, { owner: "ana", signal: AbortSignal.timeout(1000) });

  // @ts-expect-error  no such operation
  await memory.call("recal", { query: "tea" });
  // @ts-expect-error  a query must be given
  await memory.call("recall", { limit: 1 });
  // @ts-expect-error  its arguments must be given
  await memory.call("recall");
  // @ts-expect-error  no such kind
  await memory.recall("tea", { kinds: ["tea"] });
  // @ts-expect-error  an id is a number
  await memory.forget("7");
  // @ts-expect-error  it does not answer in pages
  memory.pages("stats");
}
