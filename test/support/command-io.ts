/** A command line without a process: what it is given, and what it wrote. */
import type { CommandIO } from "../../src/cli/model.ts"
import { main } from "../../src/cli/main.ts"

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What was written to stdout, byte by byte. */
  readonly bytes: Buffer
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly signal?: AbortSignal
  /** Both outputs are terminals. */
  readonly isTTY?: boolean
  /** Both outputs are terminals, so wide. */
  readonly columns?: number
  /** Told of each piece of stdout. */
  readonly onOutput?: (text: string) => void
}

/** Runs a command line in this process. */
export async function runCommand(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { stdin = "", env = {}, cwd = process.cwd(), columns, onOutput } = options
  const { isTTY = columns !== undefined } = options
  const out: Buffer[] = []
  const err: string[] = []
  const io: CommandIO = {
    stdout: {
      isTTY,
      columns,
      write: (text) => {
        out.push(Buffer.from(text))
        onOutput?.(String(text))
        return true
      },
    },
    stderr: { isTTY, columns, write: (text) => err.push(String(text)) },
    stdin: (async function* () {
      yield await Promise.resolve(stdin)
    })(),
    // Tests write the configurations that they run.
    env: { OPERATIONS_TRUST: "1", ...env },
    cwd,
    signal: options.signal ?? new AbortController().signal,
    program: "operations",
  }
  const code = await main(argv, io)
  const bytes = Buffer.concat(out)
  return { code, stdout: bytes.toString(), stderr: err.join(""), bytes }
}
