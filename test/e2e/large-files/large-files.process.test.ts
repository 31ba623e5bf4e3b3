// Large files between two real processes. LARGE_FILE_BYTES=1073741824 makes it a gigabyte.
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { program } from "../../sources/mcp/support/program.ts"

const BYTES = Number(process.env["LARGE_FILE_BYTES"] ?? 256 * 1024 * 1024)
const MOST = 64 * 1024 * 1024

function start(...args: readonly string[]): ChildProcess {
  const child = fork(program(join(import.meta.dirname, "peer.ts")), args, {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  })
  onTestFinished(() => void child.kill())
  return child
}

async function message(child: ChildProcess): Promise<Record<string, unknown>> {
  const [value] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("The process ended."))),
  ])) as [Record<string, unknown>]
  return value
}

describe("a file that is larger than the memory for it", () => {
  test("is sent and received by a typed client with less than 64 MiB on either side", async () => {
    const server = start("server")
    const { url } = await message(server)
    const client = start("client", String(url), String(BYTES))
    await message(client)
    server.send("watch")
    await message(server)

    client.send("go")
    const { sizes, used } = await message(client)
    server.send("report")
    const served = await message(server)

    expect(sizes).toEqual([BYTES, BYTES])
    expect(used).toBeLessThan(MOST)
    expect(served["used"]).toBeLessThan(MOST)
  })
})
