// #region serve
import {
  createClient,
  createRegistry,
  defineOperation,
  isCallError,
  type Identity,
} from "@alkdev/operations"
import {
  createWebSocketTransport,
  readBearerToken,
  serveWebSocket,
} from "@alkdev/operations/websocket"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "@alkdev/operations/type"

const post = defineOperation({
  type: "mutation",
  description: "Posts a message",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ from: Type.String(), text: Type.String() }),
  accessControl: { requiredScopes: ["chat.write"] },
  handler: ({ text }, context) => ({ from: context.identity?.id ?? "anonymous", text }),
})

const messages = defineOperation({
  type: "subscription",
  description: "Streams messages",
  inputSchema: Type.Object({}),
  outputSchema: Type.Object({ text: Type.String() }),
  accessControl: { requiredScopes: [] },
  async *handler(_input, context) {
    for (let count = 1; ; count++) {
      yield { text: `message ${count}` }
      await sleep(1, undefined, { signal: context.signal })
    }
  },
})

const registry = createRegistry({ chat: { post, messages } }, { output: "strict" })
const tokens = new Map<string, Identity>([["t-1", { id: "ada", scopes: ["chat.write"] }]])

const served = await serveWebSocket(registry, {
  port: 0,
  authenticate: (request) => tokens.get(readBearerToken(request) ?? ""),
})
// #endregion

// #region call
const client = createClient<typeof registry>(
  createWebSocketTransport(served.url ?? "", { token: () => "t-1" }),
)

console.log((await client.chat.post({ text: "Hello" })).data)
for await (const { data } of client.chat.messages({})) {
  console.log(data.text)
  if (data.text === "message 3") break
}
// #endregion

// #region refused
const stranger = createClient<typeof registry>(
  createWebSocketTransport(served.url ?? "", { token: "t-2", reconnect: false }),
)
try {
  await stranger.chat.post({ text: "Hello" })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.mayHaveExecuted)
}
// #endregion

// #region limits
try {
  await client.chat.post({ text: "x".repeat(2_000_000) })
} catch (error) {
  if (isCallError(error)) console.log(error.message)
}
// #endregion

await stranger.close()
await client.close()
await served.close()
