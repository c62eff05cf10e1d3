/** Server-sent events, as long work is answered with. */
import { RecollectProblem, RecollectUnreachable } from "./errors.js";
import type { ProblemFields } from "./errors.js";

/** Tells of progress until the result comes. */
export async function resultOfEvents(
  response: Response,
  onProgress: (done: number, total: number | null) => void,
): Promise<unknown> {
  for await (const [name, data] of events(response)) {
    if (name === "progress") {
      const { done, total } = data as { done: number; total: number | null };
      onProgress(done, total);
    } else if (name === "result") {
      return data;
    } else if (name === "problem") {
      const fields = data as ProblemFields;
      throw new RecollectProblem(fields.status ?? 500, fields);
    }
  }
  throw new RecollectUnreachable("The server hung up before the result came.");
}

async function* events(response: Response): AsyncGenerator<[string, unknown]> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
        yield [fields.get("event") ?? "", JSON.parse(fields.get("data") ?? "null")];
      }
    }
  } finally {
    // Whoever stops reading hangs up.
    await reader.cancel().catch(() => {});
  }
}
