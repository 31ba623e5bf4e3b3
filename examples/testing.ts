// #region setup
import { createRegistry, defineOperation } from "@alkdev/operations"
import { createManualClock } from "@alkdev/operations/testing"
import type { CallOptions } from "@alkdev/operations"
import { hashApiKey, toHTTP } from "@alkdev/operations/to-http"
import assert from "node:assert/strict"
import { Type } from "@alkdev/operations/type"
import { reminderOperations } from "./testing/reminders.ts"

/** Creates a fresh environment for each test: nothing is shared, nothing has to be cleaned up. */
function setup() {
  const clock = createManualClock(Date.UTC(2024, 0, 1))
  const sent: string[] = []
  const send = async (to: string, text: string) => void sent.push(`${to}: ${text}`)
  // Replaces another team's operation, under the same id.
  const polish = defineOperation({
    type: "query",
    description: "A fake",
    inputSchema: Type.Object({ text: Type.String() }),
    outputSchema: Type.String(),
    accessControl: { requiredScopes: [] },
    handler: ({ text }) => `${text}!`,
  })
  const { reminder } = reminderOperations({ clock, send })
  const registry = createRegistry({ reminder, words: { polish } }, { clock, output: "strict" })
  return { clock, sent, registry }
}

const ada: CallOptions = { identity: { id: "ada", scopes: ["reminder:send"] } }
const yes: CallOptions = { ...ada, requestInput: async () => ({ action: "accept", content: {} }) }
// #endregion

// #region identity
{
  const { registry, sent } = setup()
  const input = { text: "Tea", minutes: 5 }
  await assert.rejects(registry.execute("reminder.send", input), { code: "ACCESS_DENIED" })
  const eve: CallOptions = { identity: { id: "eve", scopes: ["reminder:read"] } }
  await assert.rejects(registry.execute("reminder.send", input, eve), { code: "ACCESS_DENIED" })
  await assert.rejects(registry.execute("reminder.send", { text: "", minutes: 5 }, ada), {
    code: "VALIDATION_ERROR",
  })
  assert.deepEqual(sent, [])
  console.log("callers and inputs: ok")
}
// #endregion

// #region clock
{
  const { registry, clock, sent } = setup()
  const call = registry.execute(
    "reminder.send",
    { text: "Tea", minutes: 5 },
    {
      ...yes,
      timeout: 600_000,
    },
  )
  await clock.advance(4 * 60_000)
  assert.deepEqual(sent, [])
  await clock.advance(60_000)
  assert.equal((await call).data.sentAt, Date.UTC(2024, 0, 1, 0, 5))
  assert.deepEqual(sent, ["ada: Tea!"])
  console.log("five minutes: ok")
}
// #endregion

// #region timeout
{
  const { registry, clock, sent } = setup()
  const call = registry.execute(
    "reminder.send",
    { text: "Tea", minutes: 5 },
    {
      ...yes,
      timeout: 60_000,
    },
  )
  // Attach the handler before time passes: an unhandled rejection ends the process.
  const rejected = assert.rejects(call, { code: "TIMEOUT" })
  await clock.advance(60_000)
  await rejected
  assert.deepEqual(sent, [])
  console.log("a timeout: ok")
}
// #endregion

// #region question
{
  const { registry, sent } = setup()
  const asked: string[] = []
  const { data } = await registry.execute(
    "reminder.send",
    { text: "Tea", minutes: 5 },
    {
      ...ada,
      requestInput: async (request) => {
        if ("message" in request) asked.push(request.message)
        return { action: "decline" }
      },
    },
  )
  assert.deepEqual(asked, ['Send "Tea!"?'])
  assert.deepEqual(data, { sentAt: 0 })
  assert.deepEqual(sent, [])
  console.log("a question: ok")
}
// #endregion

// #region stream
{
  const { registry, sent } = setup()
  const items: number[] = []
  for await (const { data } of registry.subscribe("reminder.countdown", { from: 1000 })) {
    items.push(data)
    if (items.length === 3) break
  }
  assert.deepEqual(items, [1000, 999, 998])
  // Leaving the loop closes the stream: its `finally` has run.
  assert.deepEqual(sent, ["log: countdown closed"])
  console.log("a stream: ok")
}
// #endregion

// #region http
{
  const { registry } = setup()
  const auth = {
    apiKeys: [{ hash: hashApiKey("key-of-eve-for-tests"), identity: { id: "eve", scopes: [] } }],
  }
  await using api = toHTTP(registry, { auth })
  const call = (key: string) =>
    api.fetch(
      new Request("http://localhost/operations/reminder.send", {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({ text: "Tea", minutes: 5 }),
      }),
    )
  assert.equal((await call("no-such-key")).status, 401)
  assert.equal((await call("key-of-eve-for-tests")).status, 403)
  console.log("over HTTP, without a port: ok")
}
// #endregion
