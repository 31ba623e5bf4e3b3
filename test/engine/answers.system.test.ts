// Answers to questions: what a handler receives over every way in.
import { describe, expect, test, vi } from "vitest"
import { createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, InputResponse, OperationContext } from "../../src/index.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { connect, textOf } from "../serve/mcp/support/clients.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_TO_ASK } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const WAYS = WAYS_TO_ASK.filter((way) => !["NATS", "Redis"].includes(way) || way in BROKERS)

const schema = {
  type: "object",
  properties: { sure: { type: "boolean" }, times: { type: "integer", default: 2 } },
  required: ["sure", "times"],
  additionalProperties: false,
}

/** Asks, and returns what it received: the content, or the code and message of the error. */
const asking = (): AnyOperation =>
  operation("ask.sure", {
    type: "mutation",
    handler: async (_input: never, { requestInput }: OperationContext) =>
      await requestInput({ message: "Sure?", schema }).then(
        ({ action, content }) => ({ action, content }),
        ({ code, message }: { code: string; message: string }) => ({ code, message }),
      ),
  })

const accept = (content?: unknown): InputResponse => ({ action: "accept", content })

/** Answers that do not match the schema. Not every protocol carries all of them as answers. */
const WRONG: Readonly<Record<string, InputResponse>> = {
  "text for a boolean": accept({ sure: "yes", times: 1 }),
  "no field": accept({}),
  "no content": accept(),
  "another field": accept({ sure: true, times: 1, admin: true }),
}
const WRONG_KINDS: Readonly<Record<string, InputResponse>> = {
  null: accept(null),
  "a list": accept([]),
  text: accept("yes"),
}
const invalid = {
  code: "VALIDATION_ERROR",
  message: expect.stringMatching(/^The answer to "[\w.]+" is invalid: /) as string,
}

// Real time passes: the timers of brokers, threads and sockets are real.
const TIMEOUT = 2000
const LATE = 2500
const later = async (answer: InputResponse): Promise<InputResponse> => {
  await new Promise((resolve) => setTimeout(resolve, LATE))
  return answer
}
const unanswered = {
  code: "TIMEOUT",
  message: expect.stringContaining(`did not answer within ${2 * LATE} ms`) as string,
}

describe.each(WAYS)("an answer over %s", (way) => {
  test("reaches the handler only if it matches the schema of the question", async () => {
    await using broker = await BROKERS[way]?.()
    const terms = { upstream: "", errors: undefined, operations: [asking()], broker: broker?.url }
    await using surface = await openSurface(way, terms)
    const call = async (answer: InputResponse): Promise<unknown> => {
      const requestInput = (): Promise<InputResponse> => Promise.resolve(answer)
      const { data, message } = await surface.call("ask.sure", { requestInput, timeout: 20_000 })
      return data ?? message
    }
    for (const [name, answer] of Object.entries({ ...WRONG, ...WRONG_KINDS })) {
      expect([name, await call(answer)]).toEqual([name, invalid])
    }
    const right = { action: "accept", content: { sure: true, times: 1 } }
    expect(await call(right as InputResponse)).toEqual(right)
    // A field that is not answered has its default.
    expect(await call(accept({ sure: true }))).toEqual({
      ...right,
      content: { sure: true, times: 2 },
    })
    expect(await call({ action: "decline" })).toEqual({ action: "decline" })
    expect(await call({ action: "decline", content: "no" })).toMatchObject({ action: "decline" })
  })

  test("may come after the timeout of the call, up to the limit of the question", async () => {
    await using broker = await BROKERS[way]?.()
    const terms = { upstream: "", errors: undefined, operations: [asking()], broker: broker?.url }
    const registry = { timeout: TIMEOUT, inputTimeout: 2 * LATE }
    await using surface = await openSurface(way, { ...terms, registry })
    const right = accept({ sure: true, times: 1 })
    const first = { requestInput: async () => right, timeout: 20_000 }
    expect((await surface.call("ask.sure", first)).data).toEqual(right)

    const asked = vi.fn(() => later(right))
    const late = { requestInput: asked, timeout: TIMEOUT }
    expect((await surface.call("ask.sure", late)).data).toEqual(right)
    const never = { requestInput: () => new Promise<never>(() => undefined), timeout: TIMEOUT }
    expect((await surface.call("ask.sure", never)).data).toEqual(unanswered)
    expect(asked).toHaveBeenCalledOnce()
  })
})

test("an answer without content is that of an empty form, and of no other question", async () => {
  const ask = operation("ask.any", {
    handler: async (question: { schema: object }, { requestInput }: OperationContext) =>
      (await requestInput({ message: "?", ...question })).content,
  })
  await using registry = createRegistry([ask], { logger: silentLogger })
  const answered = (form: object): Promise<unknown> =>
    registry.execute("ask.any", { schema: form }, { requestInput: () => Promise.resolve(accept()) })
  expect(await answered({ type: "object" })).toMatchObject({ data: {} })
  await expect(answered({ type: "string" })).rejects.toThrow("must be string, got undefined")
})

describe.each(["modern", "legacy"] as const)("an answer of an MCP client, %s", (era) => {
  test("reaches the handler only if it matches the schema of the question", async () => {
    const registry = createRegistry([asking()], { logger: silentLogger })
    await using server = toMCP(registry, { logger: silentLogger, expose: { mode: "all" } })
    await using listening = await server.listen({ port: 0 })
    let answer: InputResponse = accept()
    await using client = await connect(listening.url, era, {
      capabilities: { elicitation: {} },
      prepare: (made) =>
        made.setRequestHandler("elicitation/create", () => answer as { action: "accept" }),
    })
    const call = async (): Promise<unknown> =>
      JSON.parse(textOf(await client.callTool({ name: "ask_sure", arguments: {} })))
    for (const [name, wrong] of Object.entries(WRONG)) {
      answer = wrong
      expect([name, await call()]).toEqual([name, invalid])
    }
    answer = accept({ sure: true })
    expect(await call()).toEqual({ action: "accept", content: { sure: true, times: 2 } })
  })

  test("may come after the timeout of the call", async () => {
    const options = { logger: silentLogger, timeout: TIMEOUT }
    await using server = toMCP(createRegistry([asking()], options), { logger: silentLogger })
    await using listening = await server.listen({ port: 0 })
    const answer = accept({ sure: true, times: 1 }) as { action: "accept" }
    await using client = await connect(listening.url, era, {
      capabilities: { elicitation: {} },
      prepare: (made) =>
        made.setRequestHandler("elicitation/create", async () => {
          await later(answer)
          return answer
        }),
    })
    const result = await client.callTool({ name: "ask_sure", arguments: {} })
    expect(JSON.parse(textOf(result))).toEqual(answer)
  })
})
