// #region use
import { createClient, createRegistry, defineOperation, serveCalls } from "@alkdev/operations"
import { createServer, connect, type AddressInfo } from "node:net"
import { Type } from "@alkdev/operations/type"
import { LineTransport } from "./transport/lines.ts"

const double = defineOperation({
  type: "query",
  description: "Doubles a number",
  inputSchema: Type.Object({ value: Type.Number() }),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: ({ value }) => value * 2,
})

const count = defineOperation({
  type: "subscription",
  description: "Counts up forever",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler() {
    for (let at = 1; ; at++) yield at
  },
})

const registry = createRegistry({ math: { double, count } }, { output: "strict" })

const server = createServer((socket) => {
  serveCalls(registry, { transport: new LineTransport(socket) })
}).listen(0, "127.0.0.1")
await new Promise((resolve) => server.once("listening", resolve))

const { port } = server.address() as AddressInfo
const client = createClient<typeof registry>(new LineTransport(connect(port, "127.0.0.1")))

console.log((await client.math.double({ value: 21 })).data)
for await (const { data } of client.math.count({})) {
  console.log(data)
  if (data === 3) break
}

await client.close()
server.close()
// #endregion
