/** The part of a process stream that is used here. */
export interface OutputLike {
  write: (chunk: string | Uint8Array, ...rest: unknown[]) => boolean
  on(type: string, listener: (value: Error) => void): unknown
  off(type: string, listener: (value: Error) => void): unknown
}

/** Standard output for the protocol, and a function that releases it. */
export interface ClaimedOutput {
  readonly write: OutputLike["write"]
  release(): void
}

type ConsoleConstructor = new (stdout: OutputLike, stderr: OutputLike) => object

/**
 * Claims standard output: while MCP is served there, only the protocol may write. Everything else, with
 * `console` or without, goes to standard error, where clients expect it.
 */
export function claimOutput(stdout: OutputLike, stderr: OutputLike): ClaimedOutput {
  const original = stdout.write
  const replaced: OutputLike["write"] = (chunk, ...rest) => stderr.write(chunk, ...rest)
  stdout.write = replaced
  const restoreConsole = redirectConsole(stderr)
  return {
    write: (chunk, ...rest) => original.call(stdout, chunk, ...rest),
    release() {
      restoreConsole()
      // Other code may have replaced it since.
      if (stdout.write === replaced) stdout.write = original
    },
  }
}

// Consoles of test runners and debuggers bypass the stream, so they are replaced as well.
function redirectConsole(stderr: OutputLike): () => void {
  const shared = globalThis.console as unknown as Record<string, unknown>
  const Console = shared["Console"] as ConsoleConstructor | undefined
  if (typeof Console !== "function") return () => undefined
  const quiet = new Console(stderr, stderr) as Record<string, unknown>
  const before: [name: string, method: unknown, replacement: unknown][] = []
  for (const name of Object.keys(shared)) {
    const replacement = quiet[name]
    if (typeof shared[name] !== "function" || typeof replacement !== "function") continue
    before.push([name, shared[name], replacement])
    shared[name] = replacement
  }
  return () => {
    for (const [name, method, replacement] of before) {
      if (shared[name] === replacement) shared[name] = method
    }
  }
}
