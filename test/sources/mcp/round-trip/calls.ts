import { beforeAll, expect, test } from "vitest"
import type { Pair } from "./lanes.ts"
import { dataOf } from "./support.ts"
import { rejection } from "../../../support/operations.ts"
import { waitFor } from "../../../support/wait-for.ts"

/** Calls that run for a while, on a lane that is open. */
export function testCalls(opened: () => Pair): void {
  let pair: Pair

  beforeAll(() => {
    pair = opened()
  })

  /** What a client hears of the progress of a call. */
  async function progressOf(
    client: "direct" | "through",
    tool: string,
    input: object,
  ): Promise<object[]> {
    const { received } = pair[client]
    const from = received.length
    await pair[client].call(tool, input, { onprogress: () => undefined })
    return received
      .slice(from)
      .filter(({ method }) => method === "notifications/progress")
      .map(({ params }) => ({ ...(params as object), progressToken: undefined }))
  }

  test.each([
    ["progress", { count: 150 }],
    ["slow_progress", { count: 4, ms: 10 }],
  ])("%s comes complete and in order before the result", async (tool, input) => {
    const direct = await progressOf("direct", tool, input)

    expect(direct).toHaveLength(input.count)
    expect(await progressOf("through", tool, input)).toEqual(direct)
  })

  test("progress that goes back is left out, because the protocol forbids it", async () => {
    const steps = await progressOf("through", "odd_progress", {})

    expect(steps).toMatchObject([{ progress: 2 }, { progress: 3, message: "three" }])
  })

  test("nobody hears of progress who has not asked", async () => {
    const { received } = pair.through
    const from = received.length
    await pair.through.call("progress", { count: 3 })

    expect(received.slice(from).filter(({ method }) => method !== undefined)).toEqual([])
  })

  test("a call that is taken back is taken back on the server", async () => {
    const abort = new AbortController()
    const call = pair.through.call("hang", {}, { signal: abort.signal })
    await waitFor(async () => expect(await journal("hang")).toBe(1))
    abort.abort()
    await rejection(call)

    await waitFor(async () => {
      const { result } = await pair.through.call("cancelled")
      expect(result).toMatchObject({ structuredContent: { cancelled: [{ tool: "hang" }] } })
    })
  })

  /** How often the server behind the gateway was asked for a tool. */
  async function journal(tool: string): Promise<number> {
    const { result } = await pair.through.call("journal")
    const { journal: entries } = dataOf<{ journal: { params: { name?: string } }[] }>(result)
    return entries.filter(({ params }) => params.name === tool).length
  }
}
