import { describe, expect, test } from "vitest"
import { rejection } from "../../../support/operations.ts"
import { CHANNELS, metaOf, textOf, usingEverything } from "./support.ts"
import { TOO_LONG } from "../../../support/patience.ts"

describe.each(CHANNELS)("everything over %s", (channel) => {
  // Only a process that we start can be given an environment.
  const every = usingEverything(channel, channel === "stdio" ? { env: { OWN: "set for it" } } : {})

  test("progress comes complete and in order, before the result", async () => {
    const seen: unknown[] = []

    const result = await every.server.call(
      "trigger-long-running-operation",
      { duration: 0.2, steps: 4 },
      { progress: (update) => seen.push(update) },
    )

    expect(seen).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })))
    expect(textOf(result)).toContain("completed. Duration: 0.2 seconds, Steps: 4.")
  })

  test("a call that is taken back ends at once, and others go on", async () => {
    const abort = new AbortController()
    const started = performance.now()
    const call = every.server.call(
      "trigger-long-running-operation",
      { duration: 20, steps: 400 },
      { signal: abort.signal, progress: () => abort.abort() },
    )

    expect(await rejection(call)).toMatchObject({ code: "ABORTED" })
    expect(performance.now() - started).toBeLessThan(TOO_LONG)
    expect(textOf(await every.server.call("echo", { message: "still here" }))).toBe(
      "Echo: still here",
    )
  })

  test("a call that takes too long is given up", async () => {
    const input = { duration: 20, steps: 1 }
    const error = await rejection(
      every.server.call("trigger-long-running-operation", input, { timeout: 100 }),
    )

    expect(error).toMatchObject({ code: "TIMEOUT" })
  })

  test("a tool that runs only as a task says so before anything is sent", async () => {
    expect(
      await rejection(every.server.call("simulate-research-query", { topic: "bees" })),
    ).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringContaining("only as a task"),
      details: { reason: "UNSUPPORTED" },
      mayHaveExecuted: false,
    })
  })

  test("inputs are checked here; what only the server refuses is a result", async () => {
    expect(await rejection(every.server.call("get-sum", { a: "1", b: 2 }))).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("/a"),
    })
    const refused = await every.server.call("get-resource-reference", { resourceId: 1.5 })
    expect(metaOf(refused).isError).toBe(true)
    expect(textOf(refused)).toContain("finite positive integer")
  })

  test("many calls at the same time never get each other's results", async () => {
    const numbers = Array.from({ length: 50 }, (_, number) => number)
    const texts = await Promise.all(
      numbers.map(async (a) => textOf(await every.server.call("get-sum", { a, b: 1000 }))),
    )

    expect(texts).toEqual(numbers.map((a) => `The sum of ${a} and 1000 is ${a + 1000}.`))
  })

  test("the environment of the process is the least there can be", async () => {
    const environment = JSON.parse(textOf(await every.server.call("get-env"))) as Record<
      string,
      string
    >

    expect(environment).not.toHaveProperty("NODE_ENV")
    expect(environment).not.toHaveProperty("VITEST")
    if (channel !== "stdio") return
    expect(environment).toHaveProperty("OWN", "set for it")
    const allowed = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "OWN"]
    const others = Object.keys(environment).filter((key) => !allowed.includes(key))
    // Set by the platform's loader in every process, whatever it is given.
    expect(others.filter((key) => !key.startsWith("__"))).toEqual([])
  })
})
