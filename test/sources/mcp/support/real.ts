import { spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { freePort } from "../../../support/free-port.ts"

/** The command of a server that is installed here. */
export function real(
  name: string,
  ...args: string[]
): { readonly command: string; readonly args: string[] } {
  const script = resolve(import.meta.dirname, "../../../../node_modules", name, "dist/index.js")
  return { command: process.execPath, args: [script, ...args] }
}

/** A server that is installed here and listens on a port of its own; told of it by `argumentsFor` and `PORT`. */
export async function serveReal(
  name: string,
  argumentsFor: (port: number) => readonly string[],
): Promise<AsyncDisposable & { readonly port: number }> {
  const port = await freePort()
  const { command, args } = real(name, ...argumentsFor(port))
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], PORT: String(port) },
  })
  let words = ""
  await new Promise<void>((done, fail) => {
    child.stderr.on("data", (chunk: Buffer) => {
      words += chunk.toString()
      if (/listening|running on/i.test(words)) done()
    })
    child.once("exit", () => fail(new Error(`${name} ended: ${words}`)))
    child.once("error", fail)
  })
  return {
    port,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, "exit")
      child.kill("SIGKILL")
      await gone
    },
  }
}
