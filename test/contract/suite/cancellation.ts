import { describe, expect, test } from "vitest"
import type { TestContext } from "vitest"
import { waitFor } from "../../support/wait-for.ts"
import { drain, failure, freshKey, readLog, seen, SOON, upTo } from "../link.ts"
import type { ContractLink } from "../link.ts"

// A busy machine may not get far before a deadline: each further attempt has four times as long.
const TIMED = { retry: 3 } as const
const longer = (milliseconds: number, { task }: TestContext): number =>
  milliseconds * 4 ** (task.result?.retryCount ?? 0)

/** Whoever stops waiting stops the work, wherever it is. */
export function testCancellation(link: () => ContractLink): void {
  /** A call whose handlers, five of them, wait until they are aborted. */
  const begin = async (
    options: Parameters<ContractLink["map"]["call"]>[2] = {},
  ): Promise<{ key: string; call: ReturnType<ContractLink["map"]["call"]> }> => {
    const key = freshKey()
    const call = link().map.call("demo.wait", { key, depth: 5 }, options)
    call.catch(() => undefined)
    await seen(link(), key, "started 1")
    return { key, call }
  }
  const expectAllStopped = async (key: string, from: number): Promise<void> => {
    for (const depth of upTo(5)) {
      const at = await seen(link(), key, `aborted ${depth}`)
      expect(at - from).toBeLessThanOrEqual(SOON)
    }
  }

  describe("cancellation", () => {
    test("with abort() ends the call, and five handlers deep", async () => {
      const { key, call } = await begin()
      const from = Date.now()
      call.abort("changed my mind")
      const error = await failure(call)
      expect(error.code).toBe("ABORTED")
      expect(error.message).toContain("changed my mind")
      await expectAllStopped(key, from)
    })

    test("with the map's abort(id) does the same", async () => {
      const { key, call } = await begin()
      const from = Date.now()
      link().map.abort(call.requestId)
      expect((await failure(call)).code).toBe("ABORTED")
      await expectAllStopped(key, from)
    })

    test("with a signal ends the call, and five handlers deep", async () => {
      const controller = new AbortController()
      const { key, call } = await begin({ signal: controller.signal })
      const from = Date.now()
      controller.abort(new Error("shutting down"))
      expect((await failure(call)).code).toBe("ABORTED")
      await expectAllStopped(key, from)
    })

    test("with a deadline ends the call, and five handlers deep", TIMED, async (context) => {
      const deadline = Date.now() + longer(250, context)
      const { key, call } = await begin({ deadline })
      expect((await failure(call)).code).toBe("TIMEOUT")
      expect(Date.now() - deadline).toBeLessThanOrEqual(SOON)
      await expectAllStopped(key, deadline)
    })

    test("before anything was sent runs nothing", async () => {
      const key = freshKey()
      const input = { key, depth: 1 }
      const gone = AbortSignal.abort()
      expect(await failure(link().map.call("demo.wait", input, { signal: gone }))).toMatchObject({
        code: "ABORTED",
        mayHaveExecuted: false,
      })
      const past = link().map.call("demo.wait", input, { deadline: Date.now() - 1 })
      expect(await failure(past)).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: false })
      const left = link().map.subscribe("demo.ticks", { key, to: 1 }, { signal: gone })
      expect((await failure(left.next())).code).toBe("ABORTED")
      expect(await readLog(link(), key)).toEqual([])
    })

    test("of something unknown, or over, is harmless", async () => {
      link().map.abort("nobody")
      const call = link().map.call("demo.greet", { name: "Ada" })
      await call
      call.abort()
      link().map.abort(call.requestId)
      expect((await call).data).toEqual({ text: "Hello, Ada" })
    })

    test("by leaving a loop stops the handler, whose finally runs", async () => {
      const key = freshKey()
      let from = 0
      for await (const { data } of link().map.subscribe("demo.ticks", { key, to: 1e9 })) {
        if ((data as { at: number }).at < 3) continue
        from = Date.now()
        break
      }
      expect((await seen(link(), key, "aborted")) - from).toBeLessThanOrEqual(SOON)
      const done = await finallyAt(link(), key)
      expect(done - from).toBeLessThanOrEqual(SOON)
    })

    test("by leaving stops a handler that waits", async () => {
      const key = freshKey()
      const stream = link().map.subscribe("demo.ticks", { key, to: 9, waitAt: 2 })
      await stream.next()
      const waiting = stream.next()
      const from = Date.now()
      await stream.return()
      expect(await waiting).toEqual({ done: true, value: undefined })
      expect((await seen(link(), key, "finally 2")) - from).toBeLessThanOrEqual(SOON)
    })

    test.for([
      ["abort()", "ABORTED", {}],
      ["a signal", "ABORTED", { signal: true }],
      ["a deadline", "TIMEOUT", { deadline: 150 }],
      ["an idle timeout", "TIMEOUT", { idleTimeout: 100 }],
    ] as const)(
      "of a stream with %s ends it with %s",
      TIMED,
      async ([how, code, given], context) => {
        const key = freshKey()
        const controller = new AbortController()
        const options = {
          ...("signal" in given ? { signal: controller.signal } : {}),
          ...("deadline" in given
            ? { deadline: Date.now() + longer(given.deadline, context) }
            : {}),
          ...("idleTimeout" in given ? { idleTimeout: longer(given.idleTimeout, context) } : {}),
        }
        const stream = link().map.subscribe("demo.ticks", { key, to: 9, waitAt: 4 }, options)
        const read: number[] = []
        const reading = drain(stream, read)
        if (how === "abort()" || how === "a signal") {
          await waitFor(() => {
            if (read.length < 3) throw new Error(`Only ${read.length} items came.`)
          })
          if (how === "abort()") stream.abort()
          else controller.abort()
        }
        const { items, error } = await reading
        const from = Date.now()
        expect(items).toEqual([1, 2, 3])
        expect(error?.code).toBe(code)
        expect((await seen(link(), key, "aborted")) - from).toBeLessThanOrEqual(SOON)
        expect((await finallyAt(link(), key)) - from).toBeLessThanOrEqual(SOON)
      },
    )

    test("of one call leaves the others alone", async () => {
      const stays = link().map.call("demo.slow", { value: "here", delay: 60 })
      const { call } = await begin()
      call.abort()
      await failure(call)
      expect((await stays).data).toBe("here")
    })
  })
}

/** When the handler of a stream was through. */
async function finallyAt(link: ContractLink, key: string): Promise<number> {
  await expect
    .poll(async () => (await readLog(link, key)).map((entry) => entry.what).join())
    .toContain("finally")
  const entry = (await readLog(link, key)).find(({ what }) => what.startsWith("finally"))
  return entry?.at ?? Number.NaN
}
