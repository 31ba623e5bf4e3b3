import { describe, expect, test } from "vitest"
import { ProblemError } from "../../../console/src/api/model.ts"
import type { WatchItem } from "../../../console/src/api/model.ts"
import { credentialIssue, probeCredential } from "../../../console/src/api/probe.ts"
import { count, echo, never, serve } from "./support.ts"

describe("a client of a real server", () => {
  test("reads every page of a list", async () => {
    const many = Array.from({ length: 1203 }, (_, at) => ({ ...echo, name: `echo${at}` }))
    const { hub } = await serve(many)
    const operations = await hub.list()
    expect(operations).toHaveLength(1205)
    expect(new Set(operations.map(({ id }) => id)).size).toBe(1205)
  })

  test("searches, also where there is no hub", async () => {
    const { hub } = await serve([echo, count])
    expect(await hub.search("counts")).toEqual(["demo.count"])
    expect(await hub.search("x".repeat(5000))).toEqual([])
  })

  test("describes an operation, whatever its name", async () => {
    const { hub } = await serve([echo])
    expect(await hub.describe("demo.echo")).toMatchObject({ namespace: "demo", type: "query" })
    await expect(hub.describe("demo/../../x?y#z %")).rejects.toMatchObject({ status: 404 })
    await expect(hub.describe("__proto__")).rejects.toBeInstanceOf(ProblemError)
  })

  test("gives the envelope of a call, with status, headers and time", async () => {
    const { hub } = await serve([echo])
    const outcome = await hub.call("demo.echo", { text: "hé 🎉" }, { signal: never() })
    expect(outcome).toMatchObject({
      ok: true,
      status: 200,
      envelope: { data: { text: "hé 🎉" }, meta: { source: "local" } },
      headers: { "content-type": "application/json" },
    })
    expect(outcome.durationMs).toBeGreaterThan(0)
  })

  test("asks for the selected fields of a result, and reports paths that do not exist", async () => {
    const { hub } = await serve([echo])
    const call = (select: readonly string[]) =>
      hub.call("demo.echo", { text: "hi" }, { signal: never(), select })

    expect(await call(["text"])).toMatchObject({ ok: true, envelope: { data: { text: "hi" } } })
    expect(await call(["txt"])).toMatchObject({
      ok: false,
      problem: { code: "VALIDATION_ERROR" },
    })
  })

  test("gives the problem of a call that fails", async () => {
    const { hub } = await serve([echo])
    const outcome = await hub.call("demo.echo", { text: 1 }, { signal: never() })
    expect(outcome).toMatchObject({ ok: false, status: 400 })
    expect(!outcome.ok && outcome.problem).toMatchObject({
      code: "VALIDATION_ERROR",
      operationId: "demo.echo",
    })
  })

  test("cancels: the handler's signal aborts, and the outcome says so", async () => {
    const { hub, hung } = await serve([])
    const controller = new AbortController()
    const outcome = hub.call("demo.hang", {}, { signal: controller.signal })
    await hung.started
    controller.abort()
    expect(await outcome).toMatchObject({ ok: false, problem: { code: "ABORTED" } })
    await hung.ended
  })

  test("sends nothing when it was cancelled before", async () => {
    const { hub } = await serve([echo])
    const outcome = await hub.call("demo.echo", {}, { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ ok: false, problem: { code: "ABORTED" } })
  })

  test("sends the timeout of a call to the hub", async () => {
    const { hub } = await serve([])
    const outcome = await hub.call("demo.hang", {}, { signal: never(), timeoutMs: 30 })
    expect(outcome).toMatchObject({ ok: false, problem: { code: "TIMEOUT" }, status: 504 })
  })

  test("reads a subscription to its end", async () => {
    const { hub } = await serve([count])
    const items: WatchItem[] = []
    await hub.watch(
      "demo.count",
      { to: 3 },
      { signal: never(), onItem: (item) => items.push(item) },
    )
    expect(items.map(({ envelope }) => envelope.data)).toEqual([1, 2, 3])
  })

  test("ends a subscription that is aborted: the handler is stopped, nothing is thrown", async () => {
    const { hub, endless } = await serve([])
    const controller = new AbortController()
    let seen = 0
    await hub.watch(
      "demo.endless",
      {},
      {
        signal: controller.signal,
        onItem: () => {
          seen++
          if (seen === 5) controller.abort()
        },
      },
    )
    expect(seen).toBe(5)
    await endless.ended
  })

  test("rejects with the error of a subscription, before or after its first item", async () => {
    const { hub } = await serve([count])
    const quiet = { signal: never(), onItem: () => undefined }
    await expect(hub.watch("demo.count", { to: "x" }, quiet)).rejects.toMatchObject({
      problem: { code: "VALIDATION_ERROR" },
    })
    await expect(hub.watch("demo.count", { to: -1 }, quiet)).rejects.toMatchObject({
      name: "ProblemError",
      problem: { code: "EXECUTION_ERROR" },
    })
  })
})

describe("a client that has to authenticate", () => {
  test("notifies the session of a 401, and sends its key or token", async () => {
    const { hub, session } = await serve([echo], { "secret-key": "ada" })
    await expect(hub.list()).rejects.toMatchObject({ status: 401 })
    expect(session.isRequired).toBe(true)

    session.setCredential({ kind: "key", value: "secret-key" })
    expect(session.isRequired).toBe(false)
    expect(await hub.list()).toHaveLength(3)

    session.setCredential({ kind: "token", value: "secret-key" })
    expect(await hub.list()).toHaveLength(3)
  })

  test("tries a credential without keeping it", async () => {
    const { hub, session } = await serve([echo], { "secret-key": "ada" })
    await expect(
      probeCredential(hub.baseUrl, { kind: "key", value: "wrong" }, never()),
    ).rejects.toMatchObject({ status: 401 })
    await probeCredential(hub.baseUrl, { kind: "key", value: "secret-key" }, never())
    expect(session.credential).toBeUndefined()
    expect(session.isRequired).toBe(false)
  })

  test("knows what can be no credential", () => {
    expect(credentialIssue("abc.DEF-123_~+/=")).toBeUndefined()
    expect(credentialIssue("")).toContain("Enter")
    expect(credentialIssue("Bearer abc")).toContain("without")
    expect(credentialIssue("a b")).toContain("Copy it again")
    expect(credentialIssue("a\nb")).toContain("Copy it again")
    expect(credentialIssue("schlüssel")).toContain("Copy it again")
  })
})
