import { beforeAll, expect, test } from "vitest"
import type { Lane, Pair } from "./lanes.ts"

const DATA = { reason: "none", list: [1, null] }

/** Errors of the protocol that are the same, whoever hands them on. */
const SAME: readonly [string, object][] = [
  ["rpc_error", { code: -32603, message: "It broke.", data: DATA }],
  ["rpc_error", { code: -32603, message: "It broke." }],
  ["rpc_error", { code: -32602, message: "Wrong arguments.", data: "text" }],
  ["rpc_error", { code: -32000, message: "", data: null }],
  ["rpc_error", { code: -32042, message: "Open a page.", data: { elicitations: [] } }],
  ["rpc_error", { code: 42, message: "Our own code.", data: [] }],
  ["no_such_tool", {}],
]

/** Errors, on a lane that is open. */
export function testErrors(lane: Lane, opened: () => Pair): void {
  let pair: Pair

  beforeAll(() => {
    pair = opened()
  })

  test.each(SAME)("%s with %o is the same", async (tool, input) => {
    const [direct, through] = await Promise.all([
      pair.direct.call(tool, input),
      pair.through.call(tool, input),
    ])

    expect(direct.error).toBeDefined()
    expect(through.error).toEqual(direct.error)
  })

  test("a method that is not found is the same, where the SDK makes a status of HTTP of it", async () => {
    const input = { code: -32601, message: "No such thing.", data: DATA }

    expect((await pair.through.call("rpc_error", input)).error).toEqual(input)
  })

  test("a resource that is not found has the code of the revision of the client", async () => {
    const { error } = await pair.through.call("rpc_error", { code: -32002, message: "Not here." })

    const code = lane.down === "modern" ? -32602 : -32002
    expect(error).toEqual({ code, message: "Not here." })
  })

  test("what a client cannot do is named in the server's words", async () => {
    const data = { requiredCapabilities: { sampling: {} } }
    const input = { code: -32021, message: "A model is needed.", data }

    const { error } = await pair.through.call("rpc_error", input)

    expect(error).toEqual({ code: -32021, message: "A model is needed.", data })
  })

  test("arguments that do not fit are a failure that names them, and the server is not asked", async () => {
    const { result } = await pair.through.call("echo", { text: 7 })

    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result?.["content"])).toContain("/text: must be string, got number")
  })

  test("an answer that is none is a failure in words, where the SDK waits for ever", async () => {
    const { result } = await pair.through.call("null_result")

    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result?.["content"])).toContain("something that is not MCP")
  })

  test("a tool that runs only as a task says so", async () => {
    const { result } = await pair.through.call("task_required")

    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result?.["content"])).toContain("tasks are not supported")
  })

  test("broken messages around an answer are nobody's business", async () => {
    const { result } = await pair.through.call("bad_frames")

    expect(result).toMatchObject({ content: [{ type: "text", text: "still here" }] })
    expect((await pair.through.call("echo", { text: "after" })).result).toBeDefined()
  })
}
