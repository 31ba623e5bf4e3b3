import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openWays } from "./contract-ways.ts"
import type { Failure, Outcome, StreamOutcome, Terms, Way, Ways } from "./contract-ways.ts"
import { waitFor } from "../../support/wait-for.ts"

let opened: Ways
beforeAll(async () => {
  opened = await openWays()
})
afterAll(() => opened[Symbol.asyncDispose]())

const NAMES = [
  "execute",
  "gateway",
  "gateway, bare and by GET",
  "REST",
  "batch",
  "WebSocket",
  "HTTP client",
  "MCP",
] as const
const STREAMING = NAMES.filter((name) => name !== "batch")

test("every way is tried", () => {
  expect(opened.ways.map(({ name }) => name)).toEqual(NAMES)
})

function way(name: string): Way {
  const found = opened.ways.find((one) => one.name === name)
  if (found === undefined) throw new Error(`There is no way "${name}".`)
  return found
}

function call(name: string, id: string, input?: unknown, terms?: Terms): Promise<Outcome> {
  return way(name).call(id, input, terms)
}

async function failure(name: string, id: string, input?: unknown, terms?: Terms): Promise<Failure> {
  const outcome = await call(name, id, input, terms)
  if ("error" in outcome) return outcome.error
  throw new Error(`"${id}" was to fail and gave ${JSON.stringify(outcome.data)}.`)
}

function stream(name: string, id: string, input?: unknown, terms?: Terms): Promise<StreamOutcome> {
  const { stream: open } = way(name)
  if (open === undefined) throw new Error(`"${name}" has no streams.`)
  return open(id, input, terms)
}

/** What a result of MCP can say of a failure: all of it in one text, details as a line of their own. */
function inWordsOfMCP({ message, details, ...rest }: Failure): Failure {
  const { errors } = (details ?? {}) as { errors?: { path: string; message: string }[] }
  const lines =
    errors === undefined
      ? [message, ...(details === undefined ? [] : [`Details: ${JSON.stringify(details)}`])]
      : [
          message.replace(/ is invalid: [^]*$/, " is invalid:"),
          ...errors.map((fault) => `- ${fault.path}: ${fault.message}`),
        ]
  return { ...rest, message: lines.join("\n") }
}

describe.each(NAMES)("a call through %s", (name) => {
  test.each([
    { value: 1 },
    { value: null },
    { value: "line\nbreak \u2028 \u{1f375} é" },
    { value: { deep: [[], {}, false, 0, -1.5, ""] } },
    { value: [1, { "a.b/c~d": "%2f" }] },
  ])("brings back %j", async (input) => {
    expect(await call(name, "shop.echo", input)).toEqual({ data: input })
  })

  test("gives what a query gives", async () => {
    expect(await call(name, "shop.price", { sku: "tea", count: 2 })).toEqual({
      data: { sku: "tea", cents: 500 },
    })
  })

  test.each([
    ["an input that does not fit", "VALIDATION_ERROR", "shop.price", { sku: "t", count: "x" }],
    ["no input where there must be one", "VALIDATION_ERROR", "shop.price", {}],
    ["a declared error", "SOLD_OUT", "shop.buy", { sku: "tea" }],
    ["an error that a handler throws, without secrets", "EXECUTION_ERROR", "shop.broken", {}],
  ])("says %s in the same words", async (_, code, id, input) => {
    const direct = await failure("execute", id, input)
    expect(direct.code).toBe(code)
    expect(await failure(name, id, input)).toEqual(name === "MCP" ? inWordsOfMCP(direct) : direct)
  })

  test("of what does not exist names what was probably meant", async () => {
    const direct = await failure("execute", "shop.prize", {})
    expect(direct).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: expect.stringContaining('Did you mean "shop.price"?') as string,
    })
    const actual = await failure(name, "shop.prize", {})
    // A client of MCP knows the tools, and says so without asking.
    const local = expect.objectContaining({
      ...direct,
      message: expect.stringContaining('"shop_price"') as string,
      details: { server: "up", tool: "shop_prize" },
    }) as Failure
    expect(actual).toEqual(name === "MCP" ? local : direct)
  })

  test("of what is not permitted says what it takes", async () => {
    const direct = await failure("execute", "shop.vault", {})
    expect(direct.code).toBe("ACCESS_DENIED")
    const actual = await failure(name, "shop.vault", {})
    // MCP does not show tools that a caller may not use: there is none of that name.
    const hidden = expect.objectContaining({ code: "OPERATION_NOT_FOUND" }) as Failure
    expect(actual).toEqual(name === "MCP" ? hidden : direct)
  })

  test("that takes too long fails and ends its handler", async () => {
    const { watched } = opened
    const actual = await failure(name, "shop.hang", {}, { timeout: 300 })
    // The words differ by who looked at the clock first, the caller or the server.
    expect(actual).toMatchObject({ code: "TIMEOUT", retryable: false, mayHaveExecuted: true })
    expect(actual.message).toMatch(/hang".* (?:before its deadline|within 300 ms)/)
    await waitFor(() => expect(watched.aborted).toBe(watched.started))
  })

  test("that is given up ends its handler", async () => {
    const { watched } = opened
    const { started, aborted } = watched
    const controller = new AbortController()
    const pending = call(name, "shop.hang", {}, { signal: controller.signal })
    const settled = pending.then(
      (outcome) => ("error" in outcome ? outcome.error.code : "no error"),
      (error: unknown) => (error as Error).name,
    )
    await waitFor(() => expect(watched.started).toBe(started + 1))
    controller.abort()
    // Over HTTP nobody is left to be told: the platform's own `fetch` says that it was given up.
    const isFetch = name.startsWith("gateway") || name === "REST" || name === "batch"
    expect(await settled).toBe(isFetch ? "AbortError" : "ABORTED")
    await waitFor(() => expect(watched.aborted).toBe(aborted + 1))
  })
})

describe.each(STREAMING)("a stream through %s", (name) => {
  test.each([0, 1, 100])("gives all %i items and ends", async (to) => {
    const items = Array.from({ length: to }, (_, at) => ({ at: at + 1 }))
    expect(await stream(name, "shop.ticks", { to })).toEqual({ items })
  })

  test("that breaks in the middle gives what there was, and why", async () => {
    const direct = await stream("execute", "shop.leak", {})
    expect(direct).toMatchObject({ items: [{ at: 1 }, { at: 2 }], error: { code: "BURST" } })
    const actual = await stream(name, "shop.leak", {})
    // A failed result of MCP has no structured data: the items are in its texts.
    const texts: StreamOutcome = {
      items: expect.arrayContaining([expect.stringContaining('{"at":2}')]) as unknown[],
      error: inWordsOfMCP(direct.error as Failure),
    }
    expect(actual).toEqual(name === "MCP" ? texts : direct)
  })

  test.each([
    ["with an input that does not fit", "VALIDATION_ERROR", "shop.ticks", { to: 5000 }],
    ["of what does not exist", "OPERATION_NOT_FOUND", "shop.tickz", {}],
  ])("%s fails in the same words", async (_, code, id, input) => {
    const direct = await stream("execute", id, input)
    expect(direct).toMatchObject({ items: [], error: { code } })
    const { error } = await stream(name, id, input)
    const unknown = expect.objectContaining({ code }) as Failure
    const isUnknown = code === "OPERATION_NOT_FOUND"
    const ofMCP = isUnknown ? unknown : inWordsOfMCP(direct.error as Failure)
    expect(error).toEqual(name === "MCP" ? ofMCP : direct.error)
  })

  test("that is given up ends its handler", async () => {
    const { watched } = opened
    const { started, aborted } = watched
    const controller = new AbortController()
    const settled = stream(name, "shop.drip", {}, { signal: controller.signal }).then(
      ({ error }) => error?.code ?? "no error",
      (error: unknown) => (error as Error).name,
    )
    await waitFor(() => expect(watched.started).toBe(started + 1))
    controller.abort()
    const isFetch = name.startsWith("gateway") || name === "REST"
    expect(await settled).toBe(isFetch ? "AbortError" : "ABORTED")
    await waitFor(() => expect(watched.aborted).toBe(aborted + 1))
  })
})
