// Items of streams: they arrive as they were sent, over every way in.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FileStream, toFile, Type } from "../../src/type.ts"
import type { FileLike } from "../../src/type.ts"
import { provideBrokers } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const WAYS = Object.keys(WAYS_IN).filter(
  (way) => way !== "batch" && (!["NATS", "Redis"].includes(way) || BROKERS[way] !== undefined),
)

/** Ways in whose callers read JSON, in which a file is base64 text. */
const JSON_WAYS = ["gateway", "REST", "hub", "MCP, modern", "MCP, legacy"]

const TEXTS = ["one", "two\u2028half", "three\u2029", "a\rb\nc", "four", ""]

const texts = operation("items.texts", {
  type: "subscription",
  outputSchema: Type.String(),
  async *handler() {
    yield* TEXTS
  },
})

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("hel")
  // What came before is sent while a file is read.
  await new Promise((resolve) => setImmediate(resolve))
  yield new TextEncoder().encode("lo")
}

const files = operation("items.files", {
  type: "subscription",
  outputSchema: FileStream(),
  async *handler() {
    yield toFile(chunks(), { name: "a.txt", type: "text/plain" })
    yield toFile("", { name: "empty.txt", type: "text/plain" })
  },
})

const nested = operation("items.nested", {
  type: "subscription",
  outputSchema: Type.Object({ file: FileStream() }),
  async *handler() {
    for (const name of ["a.txt", "b.txt"]) {
      yield { file: toFile(chunks(), { name, type: "text/plain" }) }
    }
  },
})

describe.each(WAYS)("items of a stream over %s", (way) => {
  let surface: Surface
  let broker: Broker | undefined
  beforeAll(async () => {
    broker = await BROKERS[way]?.()
    const operations = [texts, files, nested]
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    surface = await openSurface(way, terms)
  })
  afterAll(async () => {
    await surface[Symbol.asyncDispose]()
    await broker?.[Symbol.asyncDispose]()
  })

  const read = async (id: string): Promise<readonly unknown[]> => {
    const { items, data, code, message } = (await surface.stream?.(id)) ?? { items: [] }
    expect([code, message]).toEqual([undefined, ""])
    // A tool collects the items.
    return way.startsWith("MCP") ? (data as { items: unknown[] }).items : items
  }

  test("are all there, whatever their text is", async () => {
    expect(await read("items.texts")).toEqual(TEXTS)
  })

  test("may be files", async () => {
    const [whole, empty] = await read("items.files")
    const inside = (await read("items.nested")) as { file: unknown }[]
    const all = [whole, empty, ...inside.map(({ file }) => file)]
    const seen = await Promise.all(all.map((one) => partsOf(one)))
    const inJSON = [btoa("hello"), "", btoa("hello"), btoa("hello")]
    const asFiles = [
      ["a.txt", "text/plain", "hello"],
      ["empty.txt", "text/plain", ""],
      ["a.txt", "text/plain", "hello"],
      ["b.txt", "text/plain", "hello"],
    ]
    expect(seen).toEqual(JSON_WAYS.includes(way) ? inJSON : asFiles)
  })
})

async function partsOf(value: unknown): Promise<unknown> {
  if (typeof value === "string") return value
  const file = value as FileLike
  return [file.name, file.type, await file.text()]
}
