// What commands work with. They take everything from here, so that a test calls them like any function.

import type { ResponseEnvelope } from "../core/envelope.ts"
import type {
  InputRequest,
  InputResponse,
  OperationSpec,
  OperationType,
  ProgressUpdate,
} from "../core/types.ts"

/** Where a command writes. */
export interface TextSink {
  /** Bytes are what `--output -` and results that are no text write. */
  write(text: string | Uint8Array): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** What a command has of the world. */
export interface CommandIO {
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Fires at Ctrl-C. */
  readonly signal: AbortSignal
  /** How the program was started: `operations`, `npx @alkdev/operations`. */
  readonly program: string
  /** `--quiet` was said: `note` writes nothing. */
  readonly quiet?: boolean | undefined
  /** `--verbose` was said. */
  readonly verbose?: boolean | undefined
}

/** An option of a command, as `node:util` parseArgs takes it, and what help says of it. */
export interface OptionSpec {
  readonly type: "string" | "boolean"
  readonly short?: string | undefined
  readonly multiple?: boolean | undefined
  /** What stands for its value in help: `file`. */
  readonly value?: string | undefined
  readonly description: string
  /** What the shell offers for its value. */
  readonly complete?: "file" | "directory" | readonly string[] | undefined
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** Arguments of a command, read. */
export interface CommandArgs {
  readonly positionals: readonly string[]
  /** The last value of an option that takes one. */
  text(name: string): string | undefined
  /** All values of an option that may be repeated. */
  texts(name: string): readonly string[]
  flag(name: string): boolean
  /** A whole number from 0 up; throws a `UsageError` otherwise. */
  count(name: string): number | undefined
}

/** A command. */
export interface Command {
  readonly name: string
  /** One line. */
  readonly summary: string
  /** After the name: `<operation> [key=value…]`. */
  readonly usage: string
  /** More than the line says, for its own help. */
  readonly details?: string | undefined
  /** Command lines without the program's name, and what each does. */
  readonly examples: readonly (readonly [line: string, what: string])[]
  readonly options: OptionSpecs
  /** Takes `--config`, `--hub`, `--openapi`, `--mcp` and so on. */
  readonly hasSources: boolean
  /** What the shell offers for its arguments. */
  readonly complete?: "operation" | "file" | readonly string[] | undefined
  /** Least and most arguments. */
  readonly arity: readonly [number, number]
  /** The exit code: 0 done, 1 the operation failed, 2 the command was wrong. */
  run(args: CommandArgs, io: CommandIO): Promise<number>
}

/** The command line was wrong: exit 2, the message, and where help is. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** Which operations a command asks for. */
export interface ListQuery {
  readonly query?: string | undefined
  readonly namespace?: string | undefined
  readonly type?: OperationType | undefined
  readonly limit?: number | undefined
}

/** An operation in a list. */
export interface ListedOperation {
  readonly id: string
  readonly type: OperationType
  readonly title?: string | undefined
  readonly description: string
  readonly tags?: readonly string[] | undefined
  readonly deprecated?: boolean | undefined
}

export interface TargetCallOptions {
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout?: number | undefined
  /** Answers what the operation asks while it runs; a hub elsewhere cannot ask. */
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
}

/** An HTTP request that would go out; credentials masked. */
export interface PreparedCall {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** What commands call: the sources of a config, ad hoc ones, or a hub that runs elsewhere. */
export interface Target extends AsyncDisposable {
  /** Those an identity may call, and how many there are beyond the limit. */
  list(query: ListQuery): Promise<{ operations: readonly ListedOperation[]; total: number }>
  /**
   * The spec of an operation, by its id, or by a name that only one has (`issues.create` for
   * `github.issues.create`, also what its source calls it). Rejects with `OPERATION_NOT_FOUND` and what was meant.
   */
  find(id: string): Promise<OperationSpec>
  /** Every spec at once, internal ones included; absent where each has to be fetched. */
  specs?(): Promise<readonly OperationSpec[]>
  execute(id: string, input: unknown, options: TargetCallOptions): Promise<ResponseEnvelope>
  subscribe(id: string, input: unknown, options: TargetCallOptions): AsyncIterable<ResponseEnvelope>
  /** The request that `execute` would send; `undefined` where it is none. */
  prepare(id: string, input: unknown): Promise<PreparedCall | undefined>
  /** Sources that are not there, with why: commands say so on stderr. */
  readonly failures: readonly { readonly name: string; readonly reason: string }[]
  close(): Promise<void>
}
