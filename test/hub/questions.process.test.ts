import { join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import type { ServedHub } from "../../src/hub/serve-hub.ts"
import { createClient } from "../../src/index.ts"
import type { InputRequest, InputResponse } from "../../src/index.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import type { ResolvedSource } from "../../src/config/model.ts"
import { configOf, ROOT, sourceOf } from "./plain.ts"
import { failure } from "../contract/link.ts"
import { program } from "../sources/mcp/support/program.ts"
import { waitFor } from "../support/wait-for.ts"

async function served(source: ResolvedSource): Promise<ServedHub> {
  const hub = createHub(configOf([source]), { logger: silentLogger })
  onTestFinished(() => hub.close())
  await hub.ready()
  const server = await serveHub(hub, { port: 0, console: false, drainMs: 100 })
  onTestFinished(() => server.close())
  return server
}

/** Clients of a hub whose source is another hub, whose source is the MCP server of the demo. */
async function hops() {
  const args = [program(join(ROOT, "demo/notes-server.ts"))]
  const notes = sourceOf("notes", { mcp: { command: process.execPath, args } })
  const far = await served(notes)
  const near = await served(sourceOf("far", { remote: far.url }))
  return () => {
    const transport = createWebSocketTransport(near.wsUrl as string, { logger: silentLogger })
    const client = createClient(transport, { logger: silentLogger })
    onTestFinished(() => client.close())
    return { client, transport }
  }
}

describe("a question of an MCP server behind two hubs", () => {
  test("is answered by the caller, and by nobody else", async () => {
    const connect = await hops()
    const { client } = connect()
    const other = connect()
    let answer: (response: InputResponse) => void = () => undefined
    const requestInput = vi.fn(
      (_request: InputRequest) => new Promise<InputResponse>((resolve) => (answer = resolve)),
    )
    const call = client.call("far.notes.clear_notes", {}, { requestInput })
    await waitFor(() => expect(requestInput).toHaveBeenCalledTimes(1))
    expect(requestInput.mock.calls[0]?.[0]).toMatchObject({
      type: "form",
      message: "There are 2 notes.",
      schema: { properties: { sure: { type: "boolean" } } },
    })
    // The id of the call is of no use to others.
    const response = { action: "accept", content: { sure: true } } as const
    other.transport.send({
      type: "call.answered",
      requestId: call.requestId,
      question: 1,
      response,
    })
    expect((await other.client.call("far.notes.find_notes", {})).data).toMatchObject({
      notes: [{ id: 1 }, { id: 2 }],
    })
    answer({ action: "decline" })
    expect((await call).data).toEqual({ removed: 0 })
  })

  test("is not asked when the caller has gone, and the next call is", async () => {
    const connect = await hops()
    const leaving = connect()
    const requestInput = vi.fn(() => new Promise<InputResponse>(() => undefined))
    const call = leaving.client.call("far.notes.clear_notes", {}, { requestInput })
    await waitFor(() => expect(requestInput).toHaveBeenCalledTimes(1))
    const failed = failure(call)
    await leaving.client.close()
    expect((await failed).code).toBe("ABORTED")

    const { client } = connect()
    const content = { sure: true }
    const { data } = await client.call(
      "far.notes.clear_notes",
      {},
      { requestInput: async () => ({ action: "accept", content }) },
    )
    expect(data).toEqual({ removed: 2 })
  })

  test("is refused when the answer is too large for the connection, without losing it", async () => {
    const { client } = (await hops())()
    const content = { sure: true, text: "x".repeat(2_000_000) }
    const { data } = await client
      .call(
        "far.notes.clear_notes",
        {},
        { requestInput: async () => ({ action: "accept", content }) },
      )
      .catch((error: Error) => ({ data: error.message }))
    expect(data).not.toEqual({ removed: 2 })
    expect((await client.call("far.notes.find_notes", {})).data).toMatchObject({
      notes: [{ id: 1 }, { id: 2 }],
    })
  })
})
