// Serves counted operations over one wire, in a process of its own. Prints "ready" with its address, and "run" for
// each run of an operation: at once, so that nothing is lost when the process is killed.
import { writeSync } from "node:fs"
import { serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { serveHTTP } from "../../src/node.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { serveWebSocket } from "../../src/websocket.ts"
import { countedOperations } from "./counted-operations.ts"

const [, , wire = "", type = "query", broker = ""] = process.argv
const logger = silentLogger
const print = (line: string): void => void writeSync(1, `${line}\n`)
const registry = countedOperations(
  type as "query" | "mutation",
  () => print("run"),
  new Promise(() => undefined),
)

async function serve(): Promise<string | undefined> {
  switch (wire) {
    case "OpenAPI":
      return (await serveHTTP(registry, { port: 0, websocket: false, logger })).url
    case "WebSocket":
      return (await serveWebSocket(registry, { port: 0, logger })).url
    case "NATS": {
      const transport = createNatsTransport({ servers: broker, logger })
      serveCalls(registry, { transport, logger })
      await transport.whenConnected()
      return broker
    }
    case "Redis": {
      const transport = createRedisTransport({ url: broker, logger })
      serveCalls(registry, { transport, logger })
      await transport.whenConnected()
      return broker
    }
    default:
      throw new Error(`There is no wire "${wire}".`)
  }
}

print(`ready ${await serve()}`)
