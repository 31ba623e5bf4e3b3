import { describe, expect, test, vi } from "vitest"
import type { InputResponse } from "../../../src/index.ts"
import { toFile } from "../../../src/type.ts"
import { failure, freshKey, seen } from "../link.ts"
import type { ContractLink, LinkTraits } from "../link.ts"

const CANNOT = { code: "UNAVAILABLE", details: { reason: "INPUT_UNAVAILABLE" } }

/** Handlers ask their callers. */
export function testQuestions(link: () => ContractLink, traits: LinkTraits): void {
  const answered: InputResponse = { action: "accept", content: { name: "Zoë \u2028 😀", age: 7 } }

  describe("questions", () => {
    test("to a caller that cannot be asked fail immediately", async () => {
      expect(await failure(link().map.call("demo.ask", { key: freshKey() }))).toMatchObject(CANNOT)
    })

    const carried = traits.carriesQuestions === false ? [] : ["are carried"]
    const refused = carried.length === 0 ? ["are not carried"] : []

    test.each(refused)(
      "that %s are refused at once, although the caller could answer",
      async () => {
        const requestInput = vi.fn(async () => answered)
        const call = link().map.call("demo.ask", { key: freshKey() }, { requestInput })
        expect(await failure(call)).toMatchObject(CANNOT)
        expect(requestInput).not.toHaveBeenCalled()
      },
    )

    test.each(carried)("that %s are answered, two at once included", async () => {
      const requestInput = vi.fn(async () => answered)
      const { data } = await link().map.call("demo.ask", { key: freshKey() }, { requestInput })
      expect(data).toEqual([answered, answered])
      expect(requestInput.mock.calls).toEqual([
        [{ message: "Who?", schema: { type: "object" }, key: "a" }],
        [{ message: "Who?", schema: { type: "object" }, key: "b" }],
      ])
    })

    test.each(carried)("that %s keep bytes and files in their answers", async () => {
      const content = { bytes: new Uint8Array([1, 2, 255]), file: toFile("hello", { type: "a/b" }) }
      const requestInput = async (): Promise<InputResponse> => ({ action: "accept", content })
      const { data } = await link().map.call("demo.ask", { key: freshKey() }, { requestInput })
      for (const { content: got } of data as { content: { bytes: Uint8Array; file: Blob } }[]) {
        expect([...got.bytes]).toEqual([1, 2, 255])
        expect([await got.file.text(), got.file.type]).toEqual(["hello", "a/b"])
      }
    })

    test.each(carried)("that %s end when the caller leaves", async () => {
      const key = freshKey()
      const requestInput = vi.fn(() => new Promise<InputResponse>(() => undefined))
      const call = link().map.call("demo.ask", { key }, { requestInput })
      await expect.poll(() => requestInput.mock.calls.length).toBe(2)
      call.abort()
      expect((await failure(call)).code).toBe("ABORTED")
      await seen(link(), key, "unanswered ABORTED")
    })
  })
}
