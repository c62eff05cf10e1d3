// Writes src/schema.ts (types) and src/operations.ts (how each operation is called) from an OpenAPI document:
//   recollect serve --openapi > openapi.json && npm run generate
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";

const [, , file, folder] = process.argv;
if (file === undefined || folder === undefined) {
  console.error("usage: node generate.mjs OPENAPI_FILE FOLDER");
  process.exit(2);
}
const document = JSON.parse(await readFile(file, "utf8"));
const NOTE = "// Made by generate.mjs from the OpenAPI document. Do not edit it; run `make client`.\n\n";

await writeFile(join(folder, "schema.ts"), NOTE + astToString(await openapiTS(document)));
await writeFile(join(folder, "operations.ts"), NOTE + table(document));

function table({ paths }) {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith("/v1/") ? Object.entries(methods).map(([method, it]) => row(path, method, it)) : [],
  );
  return `/** How each operation of the API is called. */
export const OPERATIONS = {
${lines.join("\n")}
} as const;
`;
}

function row(path, method, operation) {
  const named = (place) =>
    (operation.parameters ?? []).filter((each) => each.in === place).map((each) => each.name);
  const fields = {
    method: method.toUpperCase(),
    path,
    query: named("query"),
    takesKey: named("header").includes("Idempotency-Key"),
    repeatable: operation["x-idempotent"] === true,
  };
  return `  ${operation.operationId}: ${JSON.stringify(fields)},`;
}
