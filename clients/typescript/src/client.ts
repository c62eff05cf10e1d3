/** The client: every operation by `call`, the usual ones by name. */
import { Transport } from "./transport.js";
import type { ServerOptions } from "./transport.js";
import type {
  Answer,
  Arguments,
  CallOptions,
  OperationName,
  PagedOperation,
  Result,
  Schemas,
  Scope,
} from "./types.js";

export interface RecollectOptions extends ServerOptions, Scope {}

type Given<O extends OperationName> =
  object extends Arguments<O>
    ? [args?: Arguments<O>, options?: CallOptions]
    : [args: Arguments<O>, options?: CallOptions];
type Rest<O extends OperationName, Named extends string> = Omit<Arguments<O>, Named>;

/** A memory behind `recollect serve --http`. */
export class Recollect {
  readonly #server: ServerOptions;
  readonly #transport: Transport;
  readonly #scope: Scope;
  /** What was said, by session. */
  readonly sessions: Sessions;
  /** Entities, what is known of them, and how they are related. */
  readonly graph: Graph;

  constructor(options: RecollectOptions) {
    const { owner, agent, ...server } = options;
    this.#server = server;
    this.#transport = new Transport(server);
    this.#scope = { ...(owner === undefined ? {} : { owner }), ...(agent === undefined ? {} : { agent }) };
    this.sessions = new Sessions(this);
    this.graph = new Graph(this);
  }

  /** The same server for another owner or agent; what is not given stays as it is. */
  as(scope: Scope): Recollect {
    return new Recollect({ ...this.#server, ...this.#scope, ...scope });
  }

  /** Any operation of the API, by its name in the OpenAPI document. */
  async call<O extends OperationName>(operation: O, ...[args, options]: Given<O>): Promise<Result<O>> {
    return (await this.#send(operation, args ?? ({} as Arguments<O>), options)).data;
  }

  /** The same, with the status and the ETag. */
  answer<O extends OperationName>(operation: O, ...[args, options]: Given<O>): Promise<Answer<O>> {
    return this.#send(operation, args ?? ({} as Arguments<O>), options);
  }

  /** Page after page, until the last; a page is fetched when it is asked for. */
  async *pages<O extends PagedOperation>(
    operation: O,
    ...[args, options]: Given<O>
  ): AsyncGenerator<Result<O>, void, undefined> {
    let cursor: string | undefined;
    do {
      const given = { ...args, ...(cursor === undefined ? {} : { cursor }) } as Arguments<O>;
      const { data } = await this.#send(operation, given, options);
      yield data;
      cursor = (data as { cursor?: string }).cursor;
    } while (cursor !== undefined);
  }

  /** Whether the server's store opens and answers. */
  isReady(options: CallOptions = {}): Promise<boolean> {
    return this.#transport.probe("/readyz", options);
  }

  /** Store a note. */
  remember(text: string, more: Rest<"remember", "text"> = {}, options?: CallOptions): Promise<Result<"remember">> {
    return this.call("remember", { ...more, text }, options);
  }

  /** Store many notes in one transaction; with `keep_going`, those that cannot be stored are named in `rejected`. */
  rememberMany(
    notes: Schemas["NewNoteRow"][],
    more: Rest<"remember_many", "notes"> = {},
    options?: CallOptions,
  ): Promise<Result<"remember_many">> {
    return this.call("remember_many", { ...more, notes }, options);
  }

  /** Search everything remembered, best first. */
  recall(query: string, more: Rest<"recall", "query"> = {}, options?: CallOptions): Promise<Result<"recall">> {
    return this.call("recall", { ...more, query }, options);
  }

  /** What is worth reading before you answer, as a text. */
  context(query: string, more: Rest<"context", "query"> = {}, options?: CallOptions): Promise<Result<"context">> {
    return this.call("context", { ...more, query }, options);
  }

  /** A whole memory, with its versions. */
  get(id: number, more: Rest<"get_memory", "id"> = {}, options?: CallOptions): Promise<Result<"get_memory">> {
    return this.call("get_memory", { ...more, id }, options);
  }

  /** Change a note's fields; the former text is kept. */
  update(id: number, changes: Rest<"update", "id">, options?: CallOptions): Promise<Result<"update">> {
    return this.call("update", { ...changes, id }, options);
  }

  /** Replace a fact by a newer one; no search brings the old one back. */
  supersede(
    id: number,
    text: string,
    more: Rest<"supersede", "id" | "text"> = {},
    options?: CallOptions,
  ): Promise<Result<"supersede">> {
    return this.call("supersede", { ...more, id, text }, options);
  }

  /** Forget a memory; `restore` brings it back. */
  forget(id: number, options?: CallOptions): Promise<Result<"forget">> {
    return this.call("forget", { id }, options);
  }

  /** Bring back what was forgotten. */
  restore(id: number, options?: CallOptions): Promise<Result<"restore">> {
    return this.call("restore", { id }, options);
  }

  /** Say which of the memories that were shown helped. */
  feedback(args: Arguments<"feedback">, options?: CallOptions): Promise<Result<"feedback">> {
    return this.call("feedback", args, options);
  }

  /** Every memory that fits, page after page. */
  async *memories(
    args: Arguments<"list_memories"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Schemas["ListedRow"], void, undefined> {
    for await (const page of this.pages("list_memories", args, options)) yield* page.memories;
  }

  #send<O extends OperationName>(operation: O, args: Arguments<O>, options: CallOptions = {}): Promise<Answer<O>> {
    return this.#transport.send(operation, args, { ...this.#scope, ...options });
  }
}

class Sessions {
  readonly #memory: Recollect;

  constructor(memory: Recollect) {
    this.#memory = memory;
  }

  /** Add what was said; a session begins with its first message. */
  add(
    session: string,
    messages: Arguments<"add_messages">["messages"],
    more: Rest<"add_messages", "session" | "messages"> = {},
    options?: CallOptions,
  ): Promise<Result<"add_messages">> {
    return this.#memory.call("add_messages", { ...more, session, messages }, options);
  }

  /** A session's messages, oldest first. */
  async *messages(
    session: string,
    more: Rest<"session_messages", "session"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Result<"session_messages">["messages"][number], void, undefined> {
    for await (const page of this.#memory.pages("session_messages", { ...more, session }, options)) {
      yield* page.messages;
    }
  }

  /** Every session. */
  async *list(
    args: Arguments<"list_sessions"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Schemas["Session"], void, undefined> {
    for await (const page of this.#memory.pages("list_sessions", args, options)) yield* page.sessions;
  }

  /** Forget a session's messages. */
  clear(session: string, options?: CallOptions): Promise<Result<"clear_session">> {
    return this.#memory.call("clear_session", { session }, options);
  }
}

class Graph {
  readonly #memory: Recollect;

  constructor(memory: Recollect) {
    this.#memory = memory;
  }

  /** Add entities; those that exist keep what is known of them. */
  createEntities(
    entities: Arguments<"create_entities">["entities"],
    options?: CallOptions,
  ): Promise<Result<"create_entities">> {
    return this.#memory.call("create_entities", { entities }, options);
  }

  /** Add what was observed about entities. */
  addObservations(
    observations: Arguments<"add_observations">["observations"],
    options?: CallOptions,
  ): Promise<Result<"add_observations">> {
    return this.#memory.call("add_observations", { observations }, options);
  }

  /** Relate entities. */
  createRelations(
    relations: Arguments<"create_relations">["relations"],
    options?: CallOptions,
  ): Promise<Result<"create_relations">> {
    return this.#memory.call("create_relations", { relations }, options);
  }

  /** One entity with its observations and relations. */
  open(
    name: string,
    more: Rest<"open_entity", "name"> = {},
    options?: CallOptions,
  ): Promise<Result<"open_entity">> {
    return this.#memory.call("open_entity", { ...more, name }, options);
  }

  /** Entities by meaning. */
  search(
    query: string,
    more: Rest<"search_semantic", "query"> = {},
    options?: CallOptions,
  ): Promise<Result<"search_semantic">> {
    return this.#memory.call("search_semantic", { ...more, query }, options);
  }

  /** What an entity is related to, as far as `depth` steps. */
  neighbours(
    name: string,
    more: Rest<"neighbours", "name"> = {},
    options?: CallOptions,
  ): Promise<Result<"neighbours">> {
    return this.#memory.call("neighbours", { ...more, name }, options);
  }

  /** How two entities are connected. */
  paths(
    from: string,
    to: string,
    more: Rest<"find_paths", "from" | "to"> = {},
    options?: CallOptions,
  ): Promise<Result<"find_paths">> {
    return this.#memory.call("find_paths", { ...more, from, to }, options);
  }

  /** The whole graph, page after page. */
  pages(
    args: Arguments<"read_graph"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Result<"read_graph">, void, undefined> {
    return this.#memory.pages("read_graph", args, options);
  }

  /** Forget an entity with its observations and relations. */
  delete(name: string, options?: CallOptions): Promise<Result<"delete_entity">> {
    return this.#memory.call("delete_entity", { name }, options);
  }
}
