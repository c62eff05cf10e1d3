/** A client of Recollect's HTTP API. */
export { Recollect } from "./client.js";
export type { RecollectOptions } from "./client.js";
export { RecollectProblem, RecollectUnreachable } from "./errors.js";
export type { ArgumentProblem } from "./errors.js";
export { OPERATIONS } from "./operations.js";
export type { ServerOptions } from "./transport.js";
export type {
  Answer,
  Arguments,
  CallOptions,
  OperationName,
  PagedOperation,
  Result,
  Schemas,
  Scope,
} from "./types.js";
