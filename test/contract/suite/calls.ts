import { describe, expect, test } from "vitest"
import { createClient } from "../../../src/index.ts"
import type { ProgressUpdate } from "../../../src/index.ts"
import { toFile } from "../../../src/type.ts"
import type { FileLike } from "../../../src/type.ts"
import { failure } from "../link.ts"
import type { ContractLink } from "../link.ts"
import type { ContractRegistry } from "../operations.ts"

/** One request, one response. */
export function testCalls(link: () => ContractLink): void {
  const call: ContractLink["map"]["call"] = (...args) => link().map.call(...args)

  describe("calls", () => {
    test("bring their result, with what is known of its origin", async () => {
      const envelope = await call("demo.greet", { name: "Ada" })
      expect(envelope.data).toEqual({ text: "Hello, Ada" })
      expect(envelope.meta).toMatchObject({ source: "local", operationId: "demo.greet" })
    })

    test("keep the meta of a result that comes from elsewhere", async () => {
      const { data, meta } = await call("demo.fetched")
      expect(data).toEqual({ pets: 3 })
      expect(meta).toEqual({
        source: "http",
        statusCode: 203,
        headers: { etag: "x" },
        contentType: "a/b",
      })
    })

    test.each([
      ["text of all kinds", "Zoë \u0000 😀 \u2028 \ufeff"],
      ["a lone surrogate", "a\ud800b"],
      ["numbers", [0, -1.5, 1e21, Number.MAX_SAFE_INTEGER]],
      ["nothing", null],
      ["bytes", new Uint8Array([0, 1, 254, 255])],
      ["no bytes", new Uint8Array()],
      ["bytes inside", { list: [new Uint8Array([7]), { deep: new Uint8Array([8, 9]) }] }],
      ["a buffer", new Uint8Array([1, 2, 3]).buffer],
      ["deep data", { a: [{ b: { c: [[[1]]] } }] }],
    ])("carry %s there and back", async (_name, value) => {
      const { data } = await call("demo.echo", value)
      expect(data).toStrictEqual(value)
    })

    test("carry files there and back, with their names and types", async () => {
      const named = new File(["abc"], "ä.txt", { type: "text/plain" })
      const streamed = toFile(new Blob(["stream"]).stream() as ReadableStream<Uint8Array>, {
        name: "s",
        size: 6,
      })
      const input = { files: [named, new Blob(["xyz"], { type: "a/b" })], streamed }

      const { data } = await call("demo.echo", input)

      const back = data as { files: [File, Blob]; streamed: FileLike }
      expect([back.files[0].name, back.files[0].type]).toEqual(["ä.txt", "text/plain"])
      expect(await back.files[0].text()).toBe("abc")
      expect([back.files[1].type, await back.files[1].text()]).toEqual(["a/b", "xyz"])
      expect([back.streamed.name, await back.streamed.text()]).toEqual(["s", "stream"])
    })

    test("carry a key named __proto__ as a key", async () => {
      const value = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}') as object
      const { data } = await call("demo.echo", value)
      expect(JSON.stringify(data)).toBe('{"__proto__":{"isAdmin":true},"constructor":1}')
      expect((data as { isAdmin?: unknown }).isAdmin).toBeUndefined()
      expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    })

    test("carry a void result, and a call without an input", async () => {
      const envelope = await call("demo.nothing")
      expect(envelope.data).toBeUndefined()
      expect(envelope.meta).toMatchObject({ source: "local", operationId: "demo.nothing" })
    })

    test("keep all that an error says", async () => {
      const error = await failure(call("demo.fail"))
      expect(error).toMatchObject({
        code: "SOLD_OUT",
        message: "There is no tea left.",
        details: { sku: "tea" },
        retryable: true,
        mayHaveExecuted: false,
        retryAfterMs: 1500,
      })
    })

    test("name the path of an input that does not fit", async () => {
      const error = await failure(
        call("demo.order", { lines: [{ sku: "a", amount: 1 }, { sku: 2 }] }),
      )
      expect(error.code).toBe("VALIDATION_ERROR")
      expect(error.message).toContain("/lines/1/sku")
      expect(error.mayHaveExecuted).toBe(false)
      const { errors } = error.details as { errors: { path: string }[] }
      expect(errors.map(({ path }) => path)).toContain("/lines/1/sku")
    })

    test("of an unknown operation fail with OPERATION_NOT_FOUND", async () => {
      const error = await failure(call("demo.gret", { name: "Ada" }))
      expect(error.code).toBe("OPERATION_NOT_FOUND")
      expect(error.message).toContain('"demo.gret"')
      expect(error.mayHaveExecuted).toBe(false)
    })

    test("of an internal operation look exactly as those of an unknown one", async () => {
      const words = async (id: string): Promise<string> => {
        const called = await failure(call(id, {}))
        const read = await failure(link().map.subscribe(id, {}).next())
        const { requestId: _one, ...first } = called.toJSON()
        const { requestId: _two, ...second } = read.toJSON()
        return JSON.stringify([first, second]).replaceAll(id, "<id>")
      }
      expect(await words("demo.zqxwvy")).toBe(await words("demo.zqxwvz"))
      expect(await words("demo.zqxwvy")).toContain("OPERATION_NOT_FOUND")
    })

    test("of a stream, and streams of a call, are refused", async () => {
      expect(await failure(call("demo.count", { to: 2 }))).toMatchObject({
        code: "INVALID_OPERATION_TYPE",
      })
      expect(
        await failure(link().map.subscribe("demo.greet", { name: "Ada" }).next()),
      ).toMatchObject({
        code: "INVALID_OPERATION_TYPE",
      })
    })

    test("pass their ids, metadata and deadline to the handler", async () => {
      const running = call("demo.context", undefined, {
        parentRequestId: "parent",
        metadata: { tenant: "blue", list: [1] },
        deadline: Date.now() + 5000,
      })
      const { data } = await running
      expect(data).toMatchObject({
        requestId: running.requestId,
        parentRequestId: "parent",
        metadata: { tenant: "blue", list: [1] },
      })
      const { left } = data as { left: number }
      expect(left).toBeGreaterThan(3000)
      expect(left).toBeLessThanOrEqual(5000)
    })

    test("keep bytes and files in their metadata", async () => {
      const metadata = {
        bytes: new Uint8Array([1, 2, 255]),
        file: toFile("hello", { type: "a/b" }),
      }
      const { data } = await call("demo.context", undefined, { metadata })
      const { metadata: got } = data as { metadata: { bytes: Uint8Array; file: Blob } }
      expect([...got.bytes]).toEqual([1, 2, 255])
      expect([await got.file.text(), got.file.type]).toEqual(["hello", "a/b"])
    })

    test("report progress to those who ask", async () => {
      const reports: ProgressUpdate[] = []
      const { data } = await call("demo.progress", undefined, {
        progress: (update) => reports.push(update),
      })
      expect(data).toBe("done")
      expect(reports).toEqual(
        [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })),
      )
    })

    test("continue when a progress listener throws", async () => {
      const running = call("demo.progress", undefined, {
        progress: () => {
          throw new Error("not my day")
        },
      })
      expect((await running).data).toBe("done")
    })

    test("do not wait for each other", async () => {
      const slow = call("demo.slow", { value: "slow", delay: 50 })
      const quick = call("demo.greet", { name: "Ada" })
      const first = await Promise.race([slow.then(() => "slow"), quick.then(() => "quick")])
      expect(first).toBe("quick")
      expect((await slow).data).toBe("slow")
    })

    test("of which a hundred run at once each get their own result", async () => {
      const calls = Array.from({ length: 100 }, (_item, index) =>
        call("demo.slow", { value: index, delay: (index * 7) % 20 }),
      )
      const results = await Promise.all(calls)
      expect(results.map(({ data }) => data)).toEqual(calls.map((_call, index) => index))
    })
  })

  describe("the typed client", () => {
    test("calls by name", async () => {
      const client = createClient<ContractRegistry>(link().map)
      const { data } = await client.demo.greet({ name: "Ada" })
      expect(data.text).toBe("Hello, Ada")
      expect((await client.call("demo.greet", { name: "Bo" })).data).toEqual({ text: "Hello, Bo" })
    })

    test("reads streams by name", async () => {
      const client = createClient<ContractRegistry>(link().map)
      const items: number[] = []
      for await (const { data } of client.demo.count({ to: 3 })) items.push(data.at)
      for await (const { data } of client.subscribe("demo.count", { to: 2 })) items.push(data.at)
      expect(items).toEqual([1, 2, 3, 1, 2])
    })

    test("is not a promise, and has no enumerable names", async () => {
      const client = createClient<ContractRegistry>(link().map)
      expect(await Promise.resolve(client)).toBe(client)
      const id: string = "demo.toString"
      expect((await failure(client.call(id))).code).toBe("OPERATION_NOT_FOUND")
    })
  })
}
