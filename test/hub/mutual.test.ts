// Hubs that import each other.
import { expect, onTestFinished, test } from "vitest"
import { createHub, serveHub } from "../../src/node.ts"
import type { Hub } from "../../src/node.ts"
import { silentLogger } from "../../src/testing.ts"
import { freePort } from "../support/free-port.ts"
import { operation } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"
import { configOf, sourceOf } from "./plain.ts"

async function served(name: string, port: number, peer: string, peerPort: number): Promise<Hub> {
  const source = sourceOf(peer, { remote: `http://127.0.0.1:${peerPort}` })
  const hub = createHub(configOf([source]), { logger: silentLogger })
  const deprecation = { since: "2026-01-01", replacedBy: `${name}.new` }
  hub.registry.registerAll([
    operation(`${name}.new`, { handler: () => name }),
    operation(`${name}.old`, { handler: () => name, deprecation }),
  ])
  const server = await serveHub(hub, { port })
  onTestFinished(async () => {
    await server.close()
    await hub.close()
  })
  return hub
}

function idsOf({ registry }: Hub): string[] {
  return registry
    .getAllSpecs()
    .map(({ namespace, name }) => `${namespace}.${name}`)
    .toSorted()
}

test("two hubs that import each other list each operation once, and follow its visibility", async () => {
  const [portA, portB] = [await freePort(), await freePort()]
  const a = await served("a", portA, "far-b", portB)
  const b = await served("b", portB, "far-a", portA)
  await b.ready()
  await a.reopen("far-b")
  const all = ["a.new", "a.old", "far-b.b.new", "far-b.b.old"]
  await waitFor(() => expect(idsOf(a)).toEqual(all))
  await waitFor(() => expect(idsOf(b)).toEqual(["b.new", "b.old", "far-a.a.new", "far-a.a.old"]))
  expect((await a.registry.execute("far-b.b.new", {})).data).toBe("b")
  expect(a.registry.getSpec("far-b.b.old")?.deprecation?.replacedBy).toBe("far-b.b.new")

  const hidden = operation("b.new", { handler: () => "b", visibility: "internal" })
  b.registry.registerAll([hidden], { replace: true })
  await waitFor(() => expect(idsOf(a)).toEqual(all.filter((id) => id !== "far-b.b.new")))
  b.registry.registerAll([{ ...hidden, visibility: "external" }], { replace: true })
  await waitFor(() => expect(idsOf(a)).toEqual(all))
})
