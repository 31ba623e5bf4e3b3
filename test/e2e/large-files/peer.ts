// One side of a transfer: `server`, or `client <url> <bytes>`. Each reports how much memory it used at most.
import { createRegistry } from "../../../src/engine/registry.ts"
import { createHTTPTransport } from "../../../src/http.ts"
import { createClient } from "../../../src/index.ts"
import { serveHTTP } from "../../../src/node.ts"
import { toFile } from "../../../src/type.ts"
import type { FileLike } from "../../../src/type.ts"
import { download, repeated, upload } from "../../serve/http/files/files.ts"

/** Watches the memory of this process; returns a function that gives what was used more than at the start. */
function watchMemory(): () => number {
  const start = process.memoryUsage.rss()
  let most = start
  setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 10).unref()
  return () => Math.max(most, process.memoryUsage.rss()) - start
}

async function sizeOf(file: FileLike): Promise<number> {
  let size = 0
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return size
    size += value.byteLength
  }
}

const registry = createRegistry([upload, download])
const [role, url = "", bytes = ""] = process.argv.slice(2)

if (role === "server") {
  const server = await serveHTTP(registry, { port: 0, maxUploadBytes: 2 ** 32, timeout: 600_000 })
  let used = (): number => 0
  process.on("message", (message) => {
    if (message === "watch") used = watchMemory()
    process.send?.({ used: used() })
  })
  process.send?.({ url: server.url })
} else {
  const timeout = 600_000
  const client = createClient<typeof registry>(createHTTPTransport(url), { timeout })
  const transfer = async (length: number): Promise<readonly [number, number]> => {
    const file = toFile(repeated(length), { name: "large" })
    const sent = await client.files.upload({ title: "T", file }, { timeout })
    const received = await client.files.download({ length }, { timeout })
    return [sent.data.file.size, await sizeOf(received.data)]
  }
  // Code and buffers are there afterwards, on both sides.
  await transfer(128 * 1024 * 1024)
  process.send?.({ isReady: true })
  await new Promise((go) => process.once("message", go))
  const used = watchMemory()
  const sizes = await transfer(Number(bytes))
  process.send?.({ sizes, used: used() })
  await client.close()
  process.disconnect?.()
}
