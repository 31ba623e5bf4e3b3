#!/usr/bin/env node
import { writeSync } from "node:fs"
import { main } from "./main.ts"
import type { CommandIO } from "./model.ts"
import { programName } from "./program.ts"

const stop = new AbortController()

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    // The second signal ends the process at once.
    if (stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143)
    stop.abort(signal)
  })
}

// A reader such as `head` may close the pipe: that is not a failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0)
    if (stream === process.stdout) writeSync(2, `Cannot write the result: ${error.message}\n`)
    process.exit(1)
  })
}

const io: CommandIO = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  signal: stop.signal,
  program: programName(process.argv[1], process.env),
}

const code = await main(process.argv.slice(2), io)
process.exitCode = code
await Promise.all([flushed(process.stdout), flushed(process.stderr)])
// Leftovers of a source must not keep a finished command alive.
process.exit(code)

/** Resolves when all output has left this process. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve()
    else stream.write("", () => resolve())
  })
}
