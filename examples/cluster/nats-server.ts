import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

const MISSING = `This example starts a nats-server, and there is none on the PATH. Install it:
  Debian, Ubuntu   apt-get install nats-server
  macOS            brew install nats-server
  elsewhere        https://github.com/nats-io/nats-server/releases`

/** A NATS server on a free local port, for the duration of the example. */
export interface NatsServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a NATS server. If none is installed, explains what to install and exits. */
export async function startNatsServer(): Promise<NatsServer> {
  const { PATH = "", ...env } = process.env
  const child = spawn("nats-server", ["-a", "127.0.0.1", "-p", "-1"], {
    // The path on Debian, which is often not in PATH.
    env: { ...env, PATH: `${PATH}:/usr/sbin:/usr/local/sbin` },
    stdio: ["ignore", "ignore", "pipe"],
  })
  child.once("error", (error: NodeJS.ErrnoException) => {
    console.error(error.code === "ENOENT" ? MISSING : error.message)
    process.exit(1)
  })
  const kill = (): void => void child.kill("SIGKILL")
  process.once("exit", kill)
  const port = await new Promise<string>((resolve, reject) => {
    const lines = createInterface(child.stderr)
    lines.on("line", (line) => {
      const found = /Listening for client connections on .*:(\d+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once("exit", (code) => reject(new Error(`nats-server ended with ${code}.`)))
  })
  return {
    url: `nats://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      process.off("exit", kill)
      const ended = once(child, "exit")
      kill()
      await ended
    },
  }
}
