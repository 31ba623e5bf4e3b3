import { describe, expect, test } from "vitest"
import type { InputRequest, InputResponse } from "../../../src/index.ts"
import { failure } from "../../contract/link.ts"
import { ANN, PairSystem } from "./pair-system.ts"

const KINDS = [
  { name: "a bus with queues", hasQueues: true },
  { name: "a bus without queues", hasQueues: false },
] as const

describe.each(KINDS)("the guard on both ends of $name", ({ hasQueues }) => {
  test("calls are answered, and what they leave is forgotten", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map, transport } = system.caller()
    for (const input of [{ a: 1 }, "žluťoučký 👍", null, 0, [], { ["__proto__"]: 1 }]) {
      expect((await map.call("pair.echo", input)).data).toEqual(input)
    }
    expect((await map.call("pair.add", { id: "a" })).data).toMatchObject({ id: "a", worker: "one" })
    expect(one.runs).toEqual(["a"])
    expect(transport.stats().calling).toMatchObject({ pending: 0, dropped: 0, repeats: 0 })
    await expect.poll(() => one.transport.stats().serving.kept).toBe(0)
    expect(one.transport.stats().serving).toMatchObject({ waiting: 0, running: 0, dropped: 0 })
  })

  test("streams of large items send little ahead, also to a reader that waits", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map, transport } = system.caller()
    const input = { to: 120, size: 60_000 }
    const waiting = map.subscribe("pair.count", input)[Symbol.asyncIterator]()
    await waiting.next()
    let most = 0
    const read = async (): Promise<number> => {
      let count = 0
      for await (const _ of map.subscribe("pair.count", input)) {
        count++
        most = Math.max(most, one.transport.stats().serving.keptBytes)
      }
      return count
    }
    expect(await Promise.all([read(), read(), read()])).toEqual([120, 120, 120])
    // 2 MiB, and an item of each stream.
    expect(most).toBeLessThan(2.5e6)
    expect(one.transport.stats().serving.resent).toBe(0)
    expect(transport.stats().calling.workersLost).toBe(0)
    await waiting.return?.()
  })

  test("bytes go both ways", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one")
    const { map } = system.caller()
    const bytes = new Uint8Array([0, 1, 254, 255])
    const { data } = await map.call("pair.echo", { deep: [{ bytes }] })
    expect(data).toEqual({ deep: [{ bytes }] })
  })

  test("errors come with all they say", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one")
    const { map } = system.caller()
    expect(await failure(map.call("pair.fail", { sku: "tea" }))).toMatchObject({
      code: "SOLD_OUT",
      message: "None left.",
      details: { sku: "tea" },
      retryable: true,
      mayHaveExecuted: false,
    })
  })

  test("what is not there, and what is internal, is not found", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one")
    const { map } = system.caller()
    await map.call("pair.echo")
    for (const id of ["pair.hidden", "pair.none", "a.>", "a.*", "a b", "nothing"]) {
      const error = await failure(map.call(id))
      expect(error).toMatchObject({ code: "OPERATION_NOT_FOUND", mayHaveExecuted: false })
    }
  })

  test("without a worker a call is UNAVAILABLE", async () => {
    await using system = new PairSystem({ hasQueues })
    const { map } = system.caller()
    expect(await failure(map.call("pair.echo"))).toMatchObject({
      ...{ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false },
    })
  })

  test("questions are answered, also when they or their answers got lost", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map } = system.caller()
    const seen: string[] = []
    let lose = true
    const requestInput = async ({ key }: InputRequest): Promise<InputResponse> => {
      seen.push(key ?? "")
      // The answer is sent while the broker is away.
      if (lose) system.broker.stop()
      lose = false
      return { action: "accept", content: key }
    }
    const call = map.call("pair.ask", { times: 3 }, { requestInput, timeout: 60_000 })
    await expect.poll(() => lose).toBe(false)
    system.broker.start()
    expect((await call).data).toEqual(["q0", "q1", "q2"])
    expect(seen.toSorted()).toEqual(["q0", "q1", "q2"])
    expect(system.runs).toEqual(["ask"])
    await expect.poll(() => one.transport.stats().serving.kept).toBe(0)
  })

  test("questions and answers that are too large are rejected, and the call continues", async () => {
    await using system = new PairSystem({ hasQueues, maxPayload: 16 * 1024 })
    system.worker("one")
    const { map } = system.caller()
    const requestInput = async (): Promise<InputResponse> => {
      return { action: "accept", content: "x".repeat(20_000) }
    }
    expect(await failure(map.call("pair.ask", { size: 20_000 }, { requestInput }))).toMatchObject({
      ...{ code: "PAYLOAD_TOO_LARGE", retryable: false },
    })
    const error = await failure(map.call("pair.ask", {}, { requestInput }))
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { reason: "INPUT_UNAVAILABLE" } })
    expect(error.message).toContain("broker's limit is 16384")
  })

  test("streams come whole and in order, with a window of any size", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map } = system.caller()
    for (const window of [1, 2, 7, 256]) {
      const items: unknown[] = []
      for await (const { data } of map.subscribe("pair.count", { to: 300, size: 10 }, { window })) {
        items.push((data as { at: number }).at)
      }
      expect(items).toEqual(Array.from({ length: 300 }, (_, at) => at + 1))
    }
    await expect.poll(() => one.transport.stats().serving.kept).toBe(0)
  })

  test("a stream that is left early ends its handler", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map } = system.caller()
    for await (const { data } of map.subscribe("pair.count", { to: 1e9 }, { window: 4 })) {
      if ((data as { at: number }).at === 3) break
    }
    await expect.poll(() => one.runs).toEqual(["count ended"])
    await expect.poll(() => one.transport.stats().serving.kept).toBe(0)
  })

  test("a stream that fails delivers its items first", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one")
    const { map } = system.caller()
    const items: unknown[] = []
    const error = await failure(
      (async () => {
        for await (const { data } of map.subscribe("pair.count", { to: 9, failAt: 4 })) {
          items.push(data)
        }
      })(),
    )
    expect(items).toHaveLength(3)
    expect(error).toMatchObject({ code: "UNAVAILABLE", message: "Broken in the middle." })
  })

  test("a caller that leaves stops the handler", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map } = system.caller()
    const leave = new AbortController()
    const left = failure(map.call("pair.add", { id: "a", wait: 60_000 }, { signal: leave.signal }))
    await expect.poll(() => one.runs).toEqual(["a"])
    leave.abort()
    expect(await left).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
    await expect.poll(() => one.aborted).toEqual(["a"])
    expect(one.server.inFlight).toBe(0)
  })

  test("a deadline ends a call on both sides", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map } = system.caller()
    const error = await failure(map.call("pair.add", { id: "a", wait: 60_000 }, { timeout: 300 }))
    expect(error).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true, retryable: false })
    await expect.poll(() => one.aborted).toEqual(["a"])
  })

  test("without any limit calls and streams work too", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one")
    const { map } = system.caller()
    const timeout = Number.POSITIVE_INFINITY
    expect((await map.call("pair.add", { id: "a" }, { timeout })).data).toMatchObject({ id: "a" })
    let count = 0
    for await (const _ of map.subscribe("pair.count", { to: 5 }, { timeout })) count++
    expect(count).toBe(5)
  })

  test("progress comes before the answer", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one")
    const { map } = system.caller()
    const seen: unknown[] = []
    const progress = (value: unknown): void => void seen.push(value)
    expect((await map.call("pair.progress", {}, { progress })).data).toBe("done")
    expect(seen).toEqual([{ progress: 1, total: 2, message: "half" }])
  })

  test("messages that are too large are reported before they are sent, and other calls continue", async () => {
    await using system = new PairSystem({ hasQueues })
    const one = system.worker("one")
    const { map } = system.caller()
    const large = failure(map.call("pair.echo", "x".repeat(100_000)))
    expect(await large).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false })
    expect(await failure(map.call("pair.add", { id: "a", size: 100_000 }))).toMatchObject({
      ...{ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true, retryable: false },
    })
    const stream = map.subscribe("pair.count", { to: 3, size: 100_000 })
    expect(await failure(stream.next())).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect((await map.call("pair.echo", 1)).data).toBe(1)
    expect(one.runs.filter((run) => run === "a")).toHaveLength(1)
  })

  test("calls are spread over workers, and each runs once", async () => {
    await using system = new PairSystem({ hasQueues })
    const workers = ["one", "two", "three"].map((name) => system.worker(name))
    const { map } = system.caller()
    await map.call("pair.echo")
    const ids = Array.from({ length: 300 }, (_, at) => `id ${at}`)
    await Promise.all(ids.map((id) => map.call("pair.add", { id, wait: 5 })))
    expect(system.runs.toSorted()).toEqual(ids.toSorted())
    for (const { runs } of workers) expect(runs.length).toBeGreaterThan(30)
  })

  test("a worker that drains under load fails nothing, and nothing runs twice", async () => {
    await using system = new PairSystem({ hasQueues })
    const [one] = ["one", "two"].map((name) => system.worker(name))
    const { map } = system.caller()
    const calls: Promise<unknown>[] = []
    for (let at = 0; at < 200; at++) {
      calls.push(map.call("pair.add", { id: `id ${at}`, wait: 20 }))
      if (at === 100) calls.push(one?.server.drain() ?? Promise.resolve())
      if (at % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await Promise.all(calls)
    expect(new Set(system.runs).size).toBe(200)
    expect(system.runs).toHaveLength(200)
  })

  test("a full worker's calls go to others", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("small", { maxInFlight: 1, maxQueued: 0 })
    system.worker("large")
    const { map } = system.caller()
    const ids = Array.from({ length: 50 }, (_, at) => `id ${at}`)
    await Promise.all(ids.map((id) => map.call("pair.add", { id, wait: 50 })))
    expect(system.runs.toSorted()).toEqual(ids.toSorted())
  })

  test("a broker that goes and comes back: all calls and streams end well, and nothing runs twice", async () => {
    await using system = new PairSystem({ hasQueues })
    for (const name of ["one", "two"]) system.worker(name)
    const { map } = system.caller()
    await map.call("pair.echo")
    const ids = Array.from({ length: 100 }, (_, at) => `id ${at}`)
    const calls = ids.map((id, at) => map.call("pair.add", { id, wait: at * 3 }))
    const items: number[] = []
    const streaming = (async () => {
      for await (const { data } of map.subscribe("pair.count", { to: 2000 }, { window: 16 })) {
        items.push((data as { at: number }).at)
      }
    })()
    for (const pause of [3, 20, 100]) {
      await new Promise((resolve) => setTimeout(resolve, pause))
      system.broker.stop()
      await new Promise((resolve) => setTimeout(resolve, pause))
      system.broker.start()
    }
    await Promise.all([...calls, streaming])
    expect(system.runs.filter((run) => run !== "count ended").toSorted()).toEqual(ids.toSorted())
    expect(items).toEqual(Array.from({ length: 2000 }, (_, at) => at + 1))
  })

  test("both ends call each other over one transport each, and themselves", async () => {
    await using system = new PairSystem({ hasQueues })
    const workers = [system.worker("one"), system.worker("two")]
    for (const { server } of workers) {
      const answers = new Set<string>()
      for (let at = 0; at < 40; at++) {
        const { data } = await server.callMap.call("pair.who")
        answers.add((data as { worker: string }).worker)
      }
      expect(answers).toEqual(new Set(["one", "two"]))
    }
  })

  test("who a caller is: by its segment, and never by what it claims", async () => {
    await using system = new PairSystem({ hasQueues })
    system.worker("one", { identify: (user) => (user === "ann" ? ANN : undefined) })
    const { map } = system.caller()
    expect((await map.call("pair.guarded")).data).toBe("ann")
    await using other = new PairSystem({ hasQueues })
    other.worker("one")
    const { map: anonymous } = other.caller()
    const claimed = anonymous.call("pair.guarded", {}, { identity: ANN })
    expect(await failure(claimed)).toMatchObject({ code: "ACCESS_DENIED" })
  })
})
