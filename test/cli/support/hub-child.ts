// A hub of its own process, for tests: prints where it is, serves until it is told to stop.
import { hashApiKey } from "../../../src/to-http.ts"
import { serveHTTP } from "../../../src/node.ts"
import { hubRegistry } from "./hub-operations.ts"

const [key] = process.argv.slice(2)
const served = await serveHTTP(hubRegistry(), {
  port: 0,
  signals: true,
  ...(key !== undefined && {
    auth: { apiKeys: [{ hash: hashApiKey(key), identity: { id: "ada", scopes: [] } }] },
  }),
})
process.stdout.write(`${served.url}\n`)
