// Types of commands. They get everything as arguments, so that a test can call them like any function.

import type { ApprovalTest } from "../core/approvals.ts"
import type { CommonSource } from "../config/kinds/kind.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { AppliedPolicy } from "../core/policy-state.ts"
import type { ServedAs } from "../mcp/served-as.ts"
import type { TestedCall } from "../hub/approval-routes.ts"
import type {
  InputRequest,
  InputResponse,
  OperationSpec,
  OperationType,
  ProgressUpdate,
} from "../core/types.ts"

/** An output of a command. */
export interface TextSink {
  /** Bytes are written by `--output -` and by binary results. */
  write(text: string | Uint8Array): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** The environment of a command. */
export interface CommandIO {
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted at Ctrl-C. */
  readonly signal: AbortSignal
  /** The command that starts the program: `operations`, `npx @alkdev/operations`. */
  readonly program: string
  /** `--quiet`: `note` writes nothing. */
  readonly quiet?: boolean | undefined
  /** `--verbose`. */
  readonly verbose?: boolean | undefined
}

/** An option of a command for `parseArgs` of `node:util`, with its help. */
export interface OptionSpec {
  readonly type: "string" | "boolean"
  readonly short?: string | undefined
  readonly multiple?: boolean | undefined
  /** Placeholder of its value in help: `file`. */
  readonly value?: string | undefined
  readonly description: string
  /** Completion of its value. */
  readonly complete?: "file" | "directory" | readonly string[] | undefined
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** Parsed arguments of a command. */
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

/** One kind of source on the command line. */
export interface CommandSource<TSource extends CommonSource = CommonSource> {
  /** The option that defines one; it has the name of the kind. */
  readonly option: Omit<OptionSpec, "type" | "multiple" | "short">
  /** Other options, for a command line with one such source. */
  readonly ownOptions?: OptionSpecs | undefined
  /** What an address of this kind leads to: `a document`. */
  readonly atAddress?: string | undefined
  /** The source that a value of the option defines. */
  sourceOf(
    text: string,
    headers: Readonly<Record<string, string>> | undefined,
    args: CommandArgs,
    io: CommandIO,
  ): Promise<TSource>
  /** Whether an argument without an option defines one. */
  recognises(argument: SourceArgument): boolean
  /** What opening it does; `secrets` says what is sent to it. */
  consequence(source: TSource, secrets: string): string
  /** The optional packages that it needs. */
  packages?(source: TSource): readonly string[]
}

/** An argument that is a source, of whatever kind. */
export interface SourceArgument {
  readonly text: string
  readonly at: "address" | "folder" | "file" | "command"
  /** Of a file. */
  readonly content?: string | undefined
}

/** A command, as its module defines it. */
export interface CommandDefinition {
  /** After the name: `<operation> [key=value…]`. */
  readonly usage: string
  /** Details for its own help. */
  readonly details?: string | undefined
  /** Command lines without the program's name, and what each does. */
  readonly examples: readonly (readonly [line: string, what: string])[]
  readonly options: OptionSpecs
  /** Takes `--config`, `--hub`, `--openapi`, `--mcp` and so on. */
  readonly hasSources: boolean
  /** Completion of its arguments. */
  readonly complete?: "operation" | "file" | readonly string[] | undefined
  /** Minimum and maximum number of arguments. */
  readonly arity: readonly [number, number]
  /** The exit code: 0 done, 1 the operation failed, 2 the command was wrong. */
  run(args: CommandArgs, io: CommandIO): Promise<number>
}

/** A command with what the list of commands says about it. */
export interface Command extends CommandDefinition {
  readonly name: string
  /** One line. */
  readonly summary: string
}

/** A wrong command line: exit 2, with the message and a pointer to help. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** A query for a list of operations. */
export interface ListQuery {
  readonly query?: string | undefined
  readonly namespace?: string | undefined
  readonly type?: OperationType | undefined
  readonly limit?: number | undefined
}

/** An operation in a list. */
export interface ListedOperation extends Pick<
  OperationSpec,
  "type" | "title" | "description" | "tags" | "deprecated"
> {
  readonly id: string
  /** What MCP clients use it as, if not as a tool. */
  readonly mcp?: ServedAs | undefined
}

export interface TargetCallOptions {
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout?: number | undefined
  /** Answers requests for input while the operation runs. A hub asks over a WebSocket. */
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  readonly dryRun?: boolean | undefined
}

/** The target of commands: the sources of a configuration, ad hoc sources, or a remote hub. */
export interface Target extends AsyncDisposable {
  /** Lists operations that may be called, and their total beyond the limit. */
  list(query: ListQuery): Promise<{ operations: readonly ListedOperation[]; total: number }>
  /**
   * The spec of an operation, by its id, or by a name that only one has (`issues.create` for
   * `github.issues.create`, or its name in the source). Rejects with `OPERATION_NOT_FOUND` and a suggestion.
   */
  find(id: string): Promise<OperationSpec>
  /** The policies of an operation that `find` has found. */
  policies(spec: OperationSpec): Promise<readonly AppliedPolicy[]>
  /** Which decision the rules of approvals take about a call, and why; it is not made. */
  testApproval(call: TestedCall): Promise<ApprovalTest>
  /** Every spec at once, internal ones included; absent when each has to be fetched. */
  specs?(): Promise<readonly OperationSpec[]>
  /** The values for an argument of a prompt that `find` has found, with those that are given. */
  complete(
    spec: OperationSpec,
    argument: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[]>
  execute(id: string, input: unknown, options: TargetCallOptions): Promise<ResponseEnvelope>
  subscribe(id: string, input: unknown, options: TargetCallOptions): AsyncIterable<ResponseEnvelope>
  /** Failed sources with reasons, which commands report on stderr. */
  readonly failures: readonly { readonly name: string; readonly reason: string }[]
}
