import { Type } from "typebox"
import { expect, onTestFinished, test, vi } from "vitest"
import { PendingRequestMap } from "../../src/protocol/pending/request-map.ts"
import { defineOperation } from "../../src/core/define.ts"
import type { AnyOperation } from "../../src/core/define.ts"
import { followPeer } from "../../src/protocol/follow.ts"
import { CallError } from "../../src/core/errors.ts"
import { endpointOver } from "../../src/protocol/pending/requests.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import type { AnyRegistry } from "../../src/engine/registry.ts"

function operation(name: string): AnyOperation {
  return defineOperation({
    namespace: "peer",
    name,
    version: "1.0.0",
    type: "query",
    description: "Of a peer",
    inputSchema: Type.Unknown(),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    handler: () => name,
  })
}

/** A stream of changes that tests write. */
class Changes {
  readonly #items: unknown[] = [{ type: "ready" }]
  #wake: (() => void) | undefined
  #isOver = false
  #error: Error | undefined
  push(...items: unknown[]): void {
    this.#items.push(...items)
    this.#wake?.()
  }
  fail(error: Error): void {
    this.#error = error
    this.#wake?.()
  }
  async next(): Promise<IteratorResult<unknown>> {
    while (this.#items.length === 0 && !this.#isOver) {
      if (this.#error !== undefined) throw this.#error
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    if (this.#isOver) return { done: true, value: undefined }
    return { done: false, value: { data: this.#items.shift() } }
  }
  return(): Promise<IteratorResult<unknown>> {
    this.#isOver = true
    this.#wake?.()
    return Promise.resolve({ done: true, value: undefined })
  }
  [Symbol.asyncIterator](): this {
    return this
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function setup(names: string[]): {
  readonly registry: AnyRegistry
  readonly streams: Changes[]
  readonly logs: string[]
  readonly peer: { names: string[]; fails: boolean }
  readonly notify: (state: "lost" | "restored") => void
  readonly follow: () => Promise<() => Promise<void>>
  readonly ids: () => string[]
} {
  const logs: string[] = []
  const log = (message: string): void => void logs.push(message)
  const logger = { debug: log, info: log, warn: log, error: log }
  const map = new PendingRequestMap(new EventTarget(), { logger })
  onTestFinished(() => map.close())
  const streams: Changes[] = []
  vi.spyOn(map, "subscribe").mockImplementation(() => {
    const stream = new Changes()
    streams.push(stream)
    return stream as never
  })
  const registry = createRegistry([])
  const peer = { names, fails: false }
  const load = (ids?: readonly string[]): Promise<AnyOperation[]> =>
    peer.fails
      ? Promise.reject(new Error("no list"))
      : Promise.resolve(
          peer.names.filter((name) => ids?.includes(`peer.${name}`) ?? true).map(operation),
        )
  return {
    registry,
    streams,
    logs,
    peer,
    notify: (state) => {
      const endpoint = endpointOver(map)
      if (state === "restored") endpoint.restored()
      else endpoint.lost(new CallError("UNAVAILABLE", "The peer is gone."))
    },
    follow: () => followPeer(map, registry, load, (id) => id),
    ids: () =>
      registry
        .getAllSpecs()
        .map(({ name }) => name)
        .sort(),
  }
}

test("adds, replaces, removes and lists again as the peer says", async () => {
  const { streams, peer, follow, ids } = setup(["a", "b"])
  const stop = await follow()
  expect(ids()).toEqual(["a", "b"])
  peer.names = ["a", "c"]
  streams[0]?.push(
    { type: "added", id: "peer.c" },
    { type: "replaced", id: "peer.a" },
    { type: "removed", id: "peer.b" },
    { type: "removed", id: "peer.never" },
    { type: "added", id: "peer.gone" },
    { type: "ready" },
  )
  await turn()
  expect(ids()).toEqual(["a", "c"])
  peer.names = ["d"]
  streams[0]?.push({ type: "reset" })
  await turn()
  expect(ids()).toEqual(["d"])
  await stop()
  expect(ids()).toEqual([])
})

test("leaves alone what was here before", async () => {
  const { registry, streams, logs, peer, follow, ids } = setup(["a"])
  const stop = await follow()
  registry.registerAll([operation("mine")])
  peer.names = ["a", "mine"]
  streams[0]?.push({ type: "added", id: "peer.mine" })
  await turn()
  expect(logs).toContain("An operation of a peer was not registered")
  await stop()
  expect(ids()).toEqual(["mine"])
})

test("follows again once the peer is back, and says when that fails", async () => {
  const { streams, logs, peer, notify, follow, ids } = setup(["a"])
  const stop = await follow()
  streams[0]?.fail(new Error("lost"))
  await turn()
  expect(logs).toContain("Changes of a peer are no longer followed")
  notify("lost")
  expect(streams).toHaveLength(1)
  peer.names = ["b"]
  notify("restored")
  await turn()
  expect(ids()).toEqual(["b"])
  peer.fails = true
  notify("restored")
  await turn()
  expect(logs).toContain("The operations of a peer could not be listed after a reconnect")
  expect(ids()).toEqual(["b"])
  await stop()
  expect(ids()).toEqual([])
  notify("restored")
  expect(streams).toHaveLength(3)
})

test("stopped while it lists, it registers nothing more", async () => {
  const { streams, peer, notify, follow, ids } = setup(["a"])
  const stop = await follow()
  peer.names = ["a", "b"]
  streams[0]?.push({ type: "added", id: "peer.b" })
  await stop()
  await turn()
  expect(ids()).toEqual([])
  const again = await follow()
  peer.names = ["c"]
  notify("restored")
  await again()
  await turn()
  expect(ids()).toEqual([])
})

test("rejects when the first list fails, and leaves nothing behind", async () => {
  const { peer, notify, streams, follow, ids } = setup(["a"])
  peer.fails = true
  await expect(follow()).rejects.toThrow("no list")
  notify("restored")
  expect([ids(), streams.length]).toEqual([[], 1])
})
