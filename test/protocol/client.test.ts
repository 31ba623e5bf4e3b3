import { describe, expect, test, vi } from "vitest"
import { createClient, createRegistry, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import { count, greet, operation, quietRegistry, rejection } from "../support/operations.ts"

const registry = createRegistry([greet, count], { logger: silentLogger })

function connected(): ReturnType<typeof createClient<typeof registry>> {
  const [near, far] = createMemoryTransports()
  serveCalls(registry, { transport: far })
  return createClient<typeof registry>(near)
}

describe("createClient", () => {
  test("calls by namespace and name, and by id", async () => {
    await using client = connected()

    expect((await client.demo.greet({ name: "Ada" })).data.text).toBe("Hello, Ada")
    expect((await client.call("demo.greet", { name: "Bob" })).data.text).toBe("Hello, Bob")
    const [first, second] = await Promise.all([
      client.demo.greet({ name: "1" }),
      client.demo.greet({ name: "2" }),
    ])
    expect([first.data.text, second.data.text]).toEqual(["Hello, 1", "Hello, 2"])
  })

  test("a subscription is iterated, at once or later", async () => {
    await using client = connected()
    const seen: number[] = []
    for await (const { data } of client.demo.count({ to: 3 })) seen.push(data.at)
    for await (const { data } of client.subscribe("demo.count", { to: 2 })) seen.push(data.at)
    const later = client.demo.count({ to: 2 })
    await new Promise(setImmediate)
    for await (const { data } of later) seen.push(data.at)

    expect(seen).toEqual([1, 2, 3, 1, 2, 1, 2])
    const stream = client.demo.count({ to: 9 })
    expect((await stream.next()).value?.data.at).toBe(1)
    await stream.return()
    await using disposed = client.demo.count({ to: 9 })
    expect((await disposed.next()).done).toBe(false)
  })

  test("a call that is not awaited is still made", async () => {
    const handler = vi.fn(() => "done")
    const [near, far] = createMemoryTransports()
    serveCalls(quietRegistry([operation("door.open", { handler })]), { transport: far })
    const client = createClient(near)
    void client["door"]?.["open"]?.({})
    await new Promise(setImmediate)

    expect(handler).toHaveBeenCalledTimes(1)
  })

  test("iterating a query, or awaiting a subscription, is an error", async () => {
    await using client = connected()

    expect(
      await rejection(client.demo.count({ to: 1 }) as unknown as Promise<unknown>),
    ).toMatchObject({ code: "INVALID_OPERATION_TYPE" })
    expect(
      await rejection((client.demo.greet({ name: "x" }) as never as AsyncIterator<unknown>).next()),
    ).toMatchObject({ code: "INVALID_OPERATION_TYPE" })
  })

  test("requests have an id and can be aborted", async () => {
    const map = new PendingRequestMap()
    const client = createClient<typeof registry>(map)
    const call = client.demo.greet({ name: "Ada" })
    expect(call.requestId).toEqual(expect.any(String))
    const outcome = rejection(call)
    call.abort("no")
    const stream = client.demo.count({ to: 1 })
    const item = rejection(stream.next())
    expect(stream.requestId).not.toBe(call.requestId)
    stream.abort()

    expect(await outcome).toMatchObject({ code: "ABORTED" })
    expect(await item).toMatchObject({ code: "ABORTED" })
    expect(map.getPendingCount()).toBe(0)
  })

  test("is not a promise, and neither is a namespace", async () => {
    const client = connected()

    expect(await (client as unknown)).toBe(client)
    expect(await (client.demo as unknown)).toBe(client.demo)
    expect(String(Symbol.iterator in client)).toBe("false")
    await client.close()
    expect(await rejection(client.demo.greet({ name: "x" }))).toMatchObject({ code: "UNAVAILABLE" })
  })

  test("calls operations and namespaces called `then` by their ids", async () => {
    const [near, far] = createMemoryTransports()
    const served = quietRegistry([
      operation("then.go", { handler: () => 1 }),
      operation("go.then", { handler: () => 2 }),
    ])
    serveCalls(served, { transport: far })
    await using client = createClient(near)

    expect([client["then"], client["go"].then]).toEqual([undefined, undefined])
    expect((await client.call("then.go")).data).toBe(1)
    expect((await client.call("go.then")).data).toBe(2)
  })

  test("names that objects have already are names like any other", async () => {
    const [near, far] = createMemoryTransports()
    const names = ["constructor", "toString", "__proto__"]
    const own = quietRegistry(names.map((name) => operation(`x.${name}`, { handler: () => name })))
    serveCalls(own, { transport: far })
    const client = createClient(near)
    const results: unknown[] = []
    for (const name of names) results.push((await client["x"]?.[name]?.())?.data)

    expect(results).toEqual(names)
  })

  test("two users of one transport share it", async () => {
    const [near, far] = createMemoryTransports()
    serveCalls(registry, { transport: far })
    const one = createClient<typeof registry>(near)
    const two = createClient<typeof registry>(near)

    expect((await one.demo.greet({ name: "1" })).data.text).toBe("Hello, 1")
    expect((await two.demo.greet({ name: "2" })).data.text).toBe("Hello, 2")
  })
})
