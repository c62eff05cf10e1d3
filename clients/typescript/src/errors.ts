/** What can go wrong. */

/** One argument that is wrong. */
export interface ArgumentProblem {
  readonly detail: string;
  /** Where, as a JSON pointer such as `#/limit`. */
  readonly pointer?: string;
}

/** The server refused: problem details (RFC 9457). The message says what to do next. */
export class RecollectProblem extends Error {
  override readonly name = "RecollectProblem";
  readonly status: number;
  /** A URN such as `urn:recollect:problem:not-found`. */
  readonly type: string;
  readonly title: string;
  readonly errors: readonly ArgumentProblem[];

  constructor(status: number, fields: ProblemFields = {}) {
    super(fields.detail ?? fields.message ?? `The server answered with status ${status}.`);
    this.status = status;
    this.type = fields.type ?? "about:blank";
    this.title = fields.title ?? "";
    this.errors = fields.errors ?? [];
  }

  /** The last word of its type: `not-found`, `conflict`, `invalid-input` … */
  get kind(): string {
    return this.type.split(":").at(-1) ?? "";
  }
}

export interface ProblemFields {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly message?: string;
  readonly status?: number;
  readonly errors?: readonly ArgumentProblem[];
}

/** No answer came: the server cannot be reached, hung up, or took longer than `timeoutMs`. */
export class RecollectUnreachable extends Error {
  override readonly name = "RecollectUnreachable";
}
