import { beforeAll, expect, test } from "vitest"
import type { Lane, Pair } from "./lanes.ts"
import type { Answer } from "./support.ts"

const SERVER_INFO = "io.modelcontextprotocol/serverInfo"

/** Results that are the same, whoever hands them on. */
const SAME: readonly [string, object][] = [
  ["echo", { text: "grüße \u0000 \u{1F642} \u2028" }],
  ["add", { a: 0.1, b: 0.2 }],
  ["blocks", {}],
  ["many_blocks", { count: 3000 }],
  ["structured", { value: {} }],
  ["structured", { value: { nested: [null, 0, "", false, { deep: [] }] } }],
  ["structured", {}],
  ["mismatch", {}],
  ["text_misfit", {}],
  ["text_prose", {}],
  ["text_twice", {}],
  ["error_result", {}],
  ["error_mismatch", {}],
  ["twice", {}],
  ["reads", {}],
  ["big", { bytes: 4_000_000 }],
]

const NOT_OBJECTS = [0, "", false, null, [], [1, 2], "text", -1.5]

/** A result without what says who answered and how. */
function essence({ result }: Answer): object {
  const { resultType: _, _meta, ...rest } = result ?? {}
  const { [SERVER_INFO]: __, ...meta } = (_meta ?? {}) as Record<string, unknown>
  return { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) }
}

/** Results, on a lane that is open. */
export function testResults(lane: Lane, opened: () => Pair): void {
  let pair: Pair

  beforeAll(() => {
    pair = opened()
  })

  test.each(SAME)("%s with %o is the same", async (tool, input) => {
    const [direct, through] = await Promise.all([
      pair.direct.call(tool, input),
      pair.through.call(tool, input),
    ])

    expect(essence(through)).toEqual(essence(direct))
    expect(direct.result).toBeDefined()
  })

  test("who answers is the gateway, in the words of the client's era", async () => {
    const { result } = await pair.through.call("echo", { text: "who" })

    const { resultType, _meta = {} } = result ?? {}
    const { name } = ((_meta as Record<string, unknown>)[SERVER_INFO] ?? {}) as { name?: string }
    const modern = { name: "operations", resultType: "complete" }
    expect({ name, resultType }).toEqual(lane.down === "modern" ? modern : {})
  })

  test.each(NOT_OBJECTS)(
    "data that is no object, %j, is as it came, or in an object where clients take nothing else",
    async (value) => {
      const [direct, through] = await Promise.all([
        pair.direct.call("structured", { value }),
        pair.through.call("structured", { value }),
      ])

      expect(direct.result?.["structuredContent"]).toEqual(value)
      const expected = lane.down === "modern" ? value : { result: value }
      expect(through.result?.["structuredContent"]).toEqual(expected)
    },
  )

  test.each(["array_output", "string_output", "union_output", "tuple_output"])(
    "the result of %s fits the schema that was listed, and the SDK takes it",
    async (tool) => {
      await pair.through.client.listTools()

      const { structuredContent } = await pair.through.use(tool)

      const { result } = await pair.direct.call(tool)
      const value = result?.["structuredContent"]
      expect(structuredContent).toEqual(lane.down === "modern" ? value : { result: value })
    },
  )

  test("a text is also given as the data that its schema promises, because clients insist", async () => {
    const direct = await pair.direct.call("text_json")
    const through = await pair.through.call("text_json")

    expect(essence(through)).toEqual({
      ...essence(direct),
      structuredContent: { temp: 21.5, list: ["a"] },
    })
  })

  test("blocks that clients do not know are texts, because they refuse the whole result otherwise", async () => {
    const { result } = await pair.through.call("unknown_block")
    const said = (text: string): object => ({ type: "text", text })

    expect(result?.["content"]).toEqual([
      said("before"),
      said('{"type":"hologram","depth":3,"_meta":{"a":1}}'),
      said("after"),
    ])
    const { content } = await pair.through.use("malformed_blocks")
    expect(content).toHaveLength(8)
    expect((content as unknown[]).at(-1)).toEqual(said("good"))
  })

  test("a result without blocks has an empty list of them, because clients need one", async () => {
    expect(essence(await pair.through.call("no_content"))).toEqual({ content: [] })
  })

  test("a result that is larger than clients take is a failure that says so", async () => {
    const { result } = await pair.through.call("big", { bytes: 9_000_000 })

    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).toContain("PAYLOAD_TOO_LARGE")
  })

  test("results of many calls at the same time are never mixed up", async () => {
    const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`)

    const results = await Promise.all(texts.map((text) => pair.through.use("echo", { text })))

    expect(results.map(({ content }) => content)).toEqual(
      texts.map((text) => [{ type: "text", text }]),
    )
  })

  test("arguments arrive as they were sent, with nothing added", async () => {
    const input = { "": 1, b: { c: null, d: [] }, $ref: "#", constructor: "x", é: "\u{1F642}" }

    const { result } = await pair.through.call("anything", input)

    expect(result).toMatchObject({ structuredContent: { args: input } })
  })
}
