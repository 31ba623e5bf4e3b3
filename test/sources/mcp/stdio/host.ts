// A host for the tests of the reaper. Its arguments: the script of its child, the way in which it ends, and what the
// child is to do. It prints the process ids of both.

import { ChildTransport } from "../../../../src/sources/mcp/client/stdio/transport.ts"

const [child = "", way, ...manners] = process.argv.slice(2)
const transport = new ChildTransport({
  command: process.execPath,
  args: [child, ...manners],
  env: { PATH: process.env["PATH"] ?? "" },
  maxMessageBytes: 1_000_000,
})
const pids: unknown[] = []
let isReady = (): void => {}
const ready = new Promise<void>((resolve) => {
  isReady = resolve
})
transport.onmessage = (message) => {
  const { method, params } = message as { method: string; params: { pid: number } }
  if (method === "ready") pids.push(params.pid)
  if (pids.length === manners.length) isReady()
}

await transport.start()
await ready
const listeners = ["SIGTERM", "SIGINT", "SIGHUP", "uncaughtException"].map((event) =>
  process.listenerCount(event),
)
const line = `${JSON.stringify({ pids, listeners })}\n`
await new Promise((resolve) => process.stdout.write(line, resolve))

switch (way) {
  case "exit":
    process.exit(7)
    break
  case "throw":
    setTimeout(() => {
      throw new Error("nobody catches this")
    })
    break
  case "close":
    // What is left must not keep the process alive.
    await transport.close()
    break
  default:
    // It waits for what is done to it.
    process.stdin.resume()
}
