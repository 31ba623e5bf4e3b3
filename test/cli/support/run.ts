import { main } from "../../../src/cli/main.ts"
import type { CommandIO, TextSink } from "../../../src/cli/model.ts"

/** What a command did. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions extends Partial<
  Pick<CommandIO, "env" | "cwd" | "signal" | "program" | "stdin">
> {
  /** Both outputs are a terminal, so wide. */
  readonly columns?: number | undefined
}

/** Runs a command line in this process. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const io = testIO(options)
  const code = await main(argv, io)
  return { code, stdout: io.stdout.text, stderr: withoutSlowSources(io.stderr.text) }
}

/** Without the lines on sources that take long to open, which depend on the load of the machine. */
export function withoutSlowSources(stderr: string): string {
  return stderr.replaceAll(/^.+: (?:opening|installing)… \(.*\)\n/gm, "")
}

/** A sink that keeps what is written. */
export interface KeptText extends TextSink {
  text: string
}

/** What a command has of the world, with outputs that can be read afterwards. */
export function testIO(
  options: RunOptions = {},
): CommandIO & { readonly stdout: KeptText; readonly stderr: KeptText } {
  const { columns, env, ...rest } = options
  const sink = (): KeptText => ({
    text: "",
    isTTY: columns !== undefined,
    columns,
    write(text: string | Uint8Array) {
      this.text += typeof text === "string" ? text : Buffer.from(text).toString("utf8")
      return true
    },
  })
  return {
    stdin: emptyInput(),
    // Tests write the configurations that they run.
    env: { OPERATIONS_TRUST: "1", ...env },
    cwd: import.meta.dirname,
    signal: new AbortController().signal,
    program: "operations",
    ...rest,
    stdout: sink(),
    stderr: sink(),
  }
}

async function* emptyInput(): AsyncGenerator<string, void, void> {}
