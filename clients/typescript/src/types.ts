/** Arguments and results of each operation, as the OpenAPI document describes them. */
import type { OPERATIONS } from "./operations.js";
import type { components, operations } from "./schema.js";

export type Schemas = components["schemas"];
export type OperationName = keyof typeof OPERATIONS;

type JsonOf<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
// A body without fields is generated as a record of anything; it adds nothing to the arguments.
type Fields<T> = [T] extends [never] ? unknown : string extends keyof T ? unknown : T;
type BodyOf<O extends OperationName> = Fields<JsonOf<NonNullable<operations[O]["requestBody"]>>>;
type PathOf<O extends OperationName> = Fields<NonNullable<operations[O]["parameters"]["path"]>>;
type QueryOf<O extends OperationName> = Omit<
  NonNullable<operations[O]["parameters"]["query"]>,
  "owner" | "agent"
>;

/** What an operation takes: what stands in its path, its query and its body, in one object. */
export type Arguments<O extends OperationName> = PathOf<O> & QueryOf<O> & BodyOf<O>;

/** What an operation gives. */
export type Result<O extends OperationName> = operations[O]["responses"] extends { 200: infer Ok }
  ? JsonOf<Ok>
  : never;

/** Operations that answer in pages. */
export type PagedOperation = {
  [O in OperationName]: "cursor" extends keyof Arguments<O> ? O : never;
}[OperationName];

/** Whose memory it is. */
export interface Scope {
  /** The token's or the server's own, if not given. */
  readonly owner?: string;
  /** None, if not given. */
  readonly agent?: string;
}

/** What a single call may say besides its arguments. */
export interface CallOptions extends Scope {
  readonly signal?: AbortSignal;
  /** For each attempt. The client's own, if not given. */
  readonly timeoutMs?: number;
  /**
   * The same key again within 30 days writes nothing and answers as before. One is made for each write that
   * takes one; give your own to be safe across restarts of your program.
   */
  readonly idempotencyKey?: string;
  /** The ETag of what you read: the edit is refused (412) if somebody changed it since. */
  readonly ifMatch?: string;
  /** Called as long work goes on; `total` is null where nobody knows it. */
  readonly onProgress?: (done: number, total: number | null) => void;
}

/** A result with what its headers say. */
export interface Answer<O extends OperationName> {
  readonly data: Result<O>;
  readonly status: number;
  /** Of a memory or an entity: its version, for `ifMatch`. */
  readonly etag: string | null;
}
