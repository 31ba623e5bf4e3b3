// What registries that import operations from each other promise, over every link.
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  createClient,
  defineContextValue,
  fromCall,
  PendingRequestMap,
  serveCalls,
} from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  Identity,
  OperationContext,
  OperationRegistry,
  Transport,
} from "../../src/index.ts"
import { groundFor, IMPORT_LINKS, LINKS } from "../support/links.ts"
import type { LinkGround } from "../support/links.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

const NAMES = Object.keys(IMPORT_LINKS)

function idsOf(registry: OperationRegistry): string[] {
  return registry
    .getAllSpecs()
    .map(({ namespace, name }) => `${namespace}.${name}`)
    .toSorted()
}

async function open(link: string, identity?: Identity): Promise<LinkGround> {
  const ground = await groundFor(link, identity)
  onTestFinished(() => ground[Symbol.asyncDispose]())
  return ground
}

async function linkTo(
  name: string,
  registry: OperationRegistry,
  ground: LinkGround,
): Promise<Transport> {
  const transport = await LINKS[name]?.(registry, ground)
  if (transport === undefined) throw new Error(`There is no link "${name}".`)
  return transport
}

/** A registry that imports all of another one. */
async function importing(
  name: string,
  registry: OperationRegistry,
  ground: LinkGround,
  namespace?: string,
): Promise<OperationRegistry> {
  const gateway = quietRegistry()
  const link = await linkTo(name, registry, ground)
  await fromCall(link, { registry: gateway, namespace, logger: silentLogger })
  return gateway
}

const handler = (): number => 1

describe("registries that import each other", () => {
  test.each(NAMES)("list each operation once over %s", async (link) => {
    const ground = await open(link)
    const a = quietRegistry([operation("a.one", { handler })])
    const b = quietRegistry([operation("b.two", { handler })])
    const [toA, toB] = [await linkTo(link, a, ground), await linkTo(link, b, ground)]
    await fromCall(toA, { registry: b, namespace: "fromA", logger: silentLogger })
    await fromCall(toB, { registry: a, namespace: "fromB", logger: silentLogger })
    a.register(operation("a.later", { handler }) as never)
    await waitFor(() => expect(idsOf(b)).toEqual(["b.two", "fromA.a.later", "fromA.a.one"]))
    expect(idsOf(a)).toEqual(["a.later", "a.one", "fromB.b.two"])
    expect(await a.execute("fromB.b.two", {})).toMatchObject({ data: 1 })
  })

  test("without namespaces do not conflict", async () => {
    const ground = await open("memory")
    const a = quietRegistry([operation("a.one", { handler })])
    const b = quietRegistry([operation("b.two", { handler })])
    await fromCall(await linkTo("memory", a, ground), { registry: b })
    const imported = await fromCall(await linkTo("memory", b, ground), { registry: a })
    expect(imported.map(({ name }) => name)).toEqual(["two"])
    expect([idsOf(a), idsOf(b)]).toEqual([
      ["a.one", "b.two"],
      ["a.one", "b.two"],
    ])
  })

  test.each(["memory", "WebSocket"])("in a ring of three list each once over %s", async (link) => {
    const ground = await open(link)
    const names = ["a", "b", "c"]
    const ring = names.map((name) => quietRegistry([operation(`${name}.own`, { handler })]))
    for (const [at, registry] of ring.entries()) {
      const next = ring[(at + 1) % 3] as OperationRegistry
      const transport = await linkTo(link, next, ground)
      const namespace = `to-${names[(at + 1) % 3]}`
      await fromCall(transport, { registry, namespace, logger: silentLogger })
    }
    await waitFor(() =>
      expect(ring.map(idsOf)).toEqual([
        ["a.own", "to-b.b.own", "to-b.to-c.c.own"],
        ["b.own", "to-c.c.own", "to-c.to-a.a.own"],
        ["c.own", "to-a.a.own", "to-a.to-b.b.own"],
      ]),
    )
  })

  test("a peer can hide only what it offers itself", async () => {
    const ground = await open("memory")
    const mine = quietRegistry([operation("a.one", { handler })])
    const honest = quietRegistry([operation("b.two", { handler })])
    await fromCall(await linkTo("memory", honest, ground), { registry: mine })
    const [hostile, near] = createMemoryTransports()
    const forged = quietRegistry([
      operation("h.three", { handler }),
      operation("h.four", { handler, via: () => [mine.originId] }),
      operation("h.five", { handler, via: () => "no list" as never }),
    ])
    const server = serveCalls(forged, { transport: hostile })
    onTestFinished(() => server.close())
    await fromCall(near, { registry: mine })
    expect(idsOf(mine)).toEqual(["a.one", "b.two", "h.five", "h.three"])
  })
})

describe("an operation that a peer may no longer call", () => {
  const CHANGES: readonly (readonly [string, Partial<AnyOperation>])[] = [
    ["becomes internal", { visibility: "internal" }],
    ["needs more scopes", { accessControl: { requiredScopes: ["admin"] } }],
  ]

  describe.each(CHANGES)("because it %s", (_what, change) => {
    test.each(NAMES)("leaves its importers, and comes back, over %s", async (link) => {
      const ground = await open(link, { id: "peer", scopes: ["user"] })
      const one = operation("p.one", { handler })
      const peer = quietRegistry([one, operation("p.two", { handler })])
      const gateway = await importing(link, peer, ground)
      expect(idsOf(gateway)).toEqual(["p.one", "p.two"])
      peer.registerAll([{ ...one, ...change }], { replace: true })
      await waitFor(() => expect(idsOf(gateway)).toEqual(["p.two"]))
      peer.registerAll([one], { replace: true })
      await waitFor(() => expect(idsOf(gateway)).toEqual(["p.one", "p.two"]))
    })
  })

  test("stays unknown to peers that never knew it", async () => {
    const ground = await open("memory")
    const secret = operation("p.secret", { handler, visibility: "internal" })
    const peer = quietRegistry([secret])
    const map = new PendingRequestMap(await linkTo("memory", peer, ground))
    const changes = map.subscribe("services.changes")
    await changes.next()
    peer.registerAll([{ ...secret, description: "Changed" }], { replace: true })
    peer.unregister("p.secret")
    peer.registerAll([operation("p.open", { handler })])
    const next = await changes.next()
    expect(next.value?.data).toEqual({ type: "added", id: "p.open" })
  })
})

describe("the replacement of a deprecated operation", () => {
  test("has its local id, and is left out if it is not imported", async () => {
    const ground = await open("memory")
    const deprecation = { since: "2026-01-01", replacedBy: "p.create" }
    const peer = quietRegistry([
      operation("p.add", { handler, deprecation }),
      operation("p.create", { handler }),
      operation("p.put", { handler, deprecation: { ...deprecation, replacedBy: "p.hidden" } }),
      operation("p.hidden", { handler, visibility: "internal" }),
    ])
    const gateway = await importing("memory", peer, ground, "eu")
    expect(gateway.getSpec("eu.p.add")?.deprecation).toEqual({
      since: "2026-01-01",
      replacedBy: "eu.p.create",
    })
    expect(gateway.getSpec("eu.p.put")?.deprecation).toEqual({ since: "2026-01-01" })
  })
})

describe("a value that middleware provides", () => {
  test.each(NAMES)("stays in its registry over %s", async (link) => {
    const ground = await open(link)
    const tenant = defineContextValue<string>("tenant")
    const read = (_input: unknown, context: OperationContext): unknown => tenant.read(context)
    const keys = (_input: unknown, context: OperationContext): unknown =>
      Object.keys(context.metadata ?? {})
    const peer = quietRegistry([
      operation("p.read", { handler: read }),
      operation("p.keys", { handler: keys }),
    ])
    const gateway = await importing(link, peer, ground)
    gateway.use((_call, next) => next({ metadata: { ...tenant.provide("acme"), plain: 1 } }))
    expect(await rejection(gateway.execute("p.read", {}))).toMatchObject({
      code: "EXECUTION_ERROR",
    })
    expect(await gateway.execute("p.keys", {})).toMatchObject({ data: ["plain"] })
  })
})

describe("a reader that is slower than its idle timeout", () => {
  // Only real time passes at both ends of a link to a broker.
  test.each(Object.keys(LINKS))("gets all items over %s", async (link) => {
    const ground = await open(link)
    const items = operation("p.items", {
      type: "subscription",
      async *handler() {
        for (let n = 1; n <= 5; n++) yield n
      },
    })
    const client = createClient(await linkTo(link, quietRegistry([items]), ground), {
      logger: silentLogger,
    })
    const got: unknown[] = []
    for await (const { data } of client.subscribe("p.items", {}, { idleTimeout: 400, window: 1 })) {
      got.push(data)
      if (got.length === 1) await sleep(600)
    }
    expect(got).toEqual([1, 2, 3, 4, 5])
  })
})
