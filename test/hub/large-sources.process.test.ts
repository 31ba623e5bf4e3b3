// Sources with many operations are loaded in several turns of the event loop, between which others are served.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub } from "../../src/hub/model.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { configOf, folder, sourceOf } from "./support.ts"

const COUNT = 10_000

/** A document with as many operations; their descriptions name the edition. */
function documentOf(count: number, edition: string): string {
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `/things/${at}/{id}`,
      {
        get: {
          operationId: `thing${at}`,
          description: `${edition} ${"of a thing ".repeat(10)}`,
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
          responses: { 200: { description: "ok" } },
        },
      },
    ]),
  )
  return JSON.stringify({ openapi: "3.1.0", info: { title: "Big", version: "1" }, paths })
}

/** How many operations changed in each turn of the event loop while something ran. */
async function changesPerTurn(hub: Hub, run: () => Promise<unknown>): Promise<number[]> {
  const turns = [0]
  const stop = hub.registry.onChange(() => void turns.push((turns.pop() ?? 0) + 1))
  let isOver = false
  const count = (): void => {
    turns.push(0)
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await run()
  isOver = true
  stop()
  return turns.filter((changes) => changes > 0)
}

function hubOf(file: string): Hub {
  const server = { baseUrl: "http://127.0.0.1:9" }
  const hub = createHub(configOf([sourceOf("big", { openapi: file, ...server })]), {
    logger: silentLogger,
  })
  onTestFinished(() => hub.close())
  return hub
}

test("a source of 10,000 operations is registered in many turns, and replaced in many", async () => {
  const file = join(folder({ "big.json": documentOf(COUNT, "First") }), "big.json")
  const hub = hubOf(file)

  const loading = await changesPerTurn(hub, () => hub.ready())

  expect(hub.sources[0]).toMatchObject({ state: "ready", operations: COUNT })
  expect(loading.reduce((all, changes) => all + changes)).toBe(COUNT)
  expect(Math.max(...loading)).toBeLessThanOrEqual(COUNT / 10)

  writeFileSync(file, documentOf(COUNT - 1, "Second"))
  const removed: string[] = []
  const stop = hub.registry.onChange(({ type, id }) => type === "removed" && removed.push(id))
  const replacing = await changesPerTurn(hub, () => hub.reopen("big"))
  stop()

  expect(removed).toEqual([`big.thing${COUNT - 1}`])
  expect(Math.max(...replacing)).toBeLessThanOrEqual(COUNT / 10)
  expect(hub.sources[0]).toMatchObject({ state: "ready", operations: COUNT - 1 })
  expect(hub.registry.getSpec("big.thing0")?.description).toContain("Second")
})

test("a large source that is closed or changed while it is registered leaves nothing behind", async () => {
  const file = join(folder({ "big.json": documentOf(COUNT, "First") }), "big.json")
  const hub = hubOf(file)
  await new Promise<void>((resolve) => {
    const stop = hub.registry.onChange(() => {
      stop()
      resolve()
    })
  })
  expect(hub.sources[0]?.state).toBe("loading")

  await hub.apply(configOf([sourceOf("big", { openapi: file }, { include: ["thing1"] })]))
  expect(hub.registry.list().map(({ name }) => name)).toEqual(["thing1"])

  await hub.apply(configOf([]))
  expect(hub.registry.list()).toEqual([])
})
