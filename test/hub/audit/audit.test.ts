import { createHash } from "node:crypto"
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"
import { describe, expect, test } from "vitest"
import { createApprovals } from "../../../src/index.ts"
import { openAudit, verifyAudit } from "../../../src/node.ts"
import type { AuditHead } from "../../../src/node.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { audited, KEY, linesOf, logPath } from "./support.ts"

const ada = { id: "ada", scopes: [] }

describe("openAudit", () => {
  test("writes one line before a mutation runs, and one when it has ended", async () => {
    const { registry, audit, path } = await audited()
    await registry.execute("t.write", { a: 1 }, { identity: ada, requestId: "r1" })
    await audit.close()

    const [file, start, end] = linesOf(path)
    expect(file).toMatchObject({ seq: 1, phase: "file", part: 1, pid: process.pid, prev: "" })
    const call = {
      requestId: "r1",
      identity: "ada",
      operation: "t.write",
      version: "1.0.0",
      type: "mutation",
    }
    expect(start).toMatchObject({ seq: 2, phase: "start", ...call, prev: file?.["seal"] })
    expect(start?.["input"]).toMatch(/^[\w-]{22}$/)
    expect(end).toMatchObject({ seq: 3, phase: "end", start: 2, ...call, outcome: "ok" })
    expect(end).not.toHaveProperty("input")
  })

  test("runs a mutation only when its line is in the file", async () => {
    const { registry, audit, path } = await audited()
    let seen: unknown[] = []
    registry.use(async (_, next) => {
      seen = linesOf(path).map(({ phase }) => phase)
      return await next()
    })
    await registry.execute("t.write", {})
    await audit.close()
    expect(seen).toEqual(["file", "start"])
  })

  test("writes a line for queries, streams, failures, and calls that were denied", async () => {
    const { registry, audit, path, ran } = await audited()
    await registry.execute("t.read", [1])
    for await (const _ of registry.subscribe("t.stream", {}));
    await registry.execute("t.fail", {}).catch(() => undefined)
    await registry.execute("t.scoped", {}, { identity: ada }).catch(() => undefined)
    await registry.execute("t.typed", { name: 5 }).catch(() => undefined)
    await audit.close()

    const ends = linesOf(path).filter(({ phase }) => phase === "end")
    expect(ends).toMatchObject([
      { operation: "t.read", type: "query", outcome: "ok" },
      { operation: "t.stream", type: "subscription", outcome: "ok" },
      { operation: "t.fail", outcome: "error", code: "EXECUTION_ERROR", mayHaveExecuted: true },
      { operation: "t.scoped", outcome: "error", code: "ACCESS_DENIED", mayHaveExecuted: false },
      { operation: "t.typed", outcome: "error", code: "VALIDATION_ERROR" },
    ])
    expect(ends.map(({ start }) => typeof start)).toEqual([
      "undefined",
      "undefined",
      "number",
      "undefined",
      "undefined",
    ])
    expect(ran).toEqual([])
    expect(readFileSync(path, "utf8")).not.toContain("hunter2")
  })

  test("writes how a call came in, what approvals decided, and who approved it", async () => {
    const { registry, audit, path } = await audited()
    registry.setApprovals(
      createApprovals([
        { match: "t.fail", decide: "deny" },
        { match: "t.write", decide: "ask" },
      ]),
    )
    const requestInput = () => Promise.resolve({ action: "accept" as const })
    const outcomes = await Promise.allSettled([
      registry.execute("t.write", {}, { requestInput, via: "mcp" }),
      registry.execute("t.write", {}, { via: "http" }),
      registry.execute("t.fail", {}),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"])
    await audit.close()
    const ends = linesOf(path).filter(({ phase }) => phase === "end")
    expect(ends).toHaveLength(3)
    const at: unknown = expect.stringMatching(/^\d{4}-.*Z$/)
    const [asked, denied] = ["approvals rule 2", "approvals rule 1"]
    for (const end of [
      { via: "mcp", decision: "ask", rule: asked, approvedBy: "caller", approvedAt: at },
      { via: "http", decision: "ask", rule: asked, code: "APPROVAL_REQUIRED" },
      { via: "call", decision: "deny", rule: denied, code: "DENIED_BY_RULE" },
    ]) {
      expect(ends).toContainEqual(expect.objectContaining(end))
    }
  })

  test("gives equal inputs the same fingerprint, which shows nothing without the key", async () => {
    const { registry, audit, path } = await audited()
    await registry.execute("t.write", { a: 1, b: 2 })
    await registry.execute("t.write", { b: 2, a: 1 })
    await registry.execute("t.write", { a: 1, b: 3 })
    await registry.execute("t.write", { bytes: new Uint8Array(3) })
    await audit.close()
    const [one, two, three, four] = linesOf(path)
      .filter(({ phase }) => phase === "start")
      .map(({ input }) => input)
    expect(one).toBe(two)
    expect(three).not.toBe(one)
    expect(four).toBe("not JSON")
    const guess = createHash("sha256").update('{"a":1,"b":2}').digest("base64url")
    expect(guess.startsWith(String(one))).toBe(false)
  })

  test("writes inputs without secrets where they are recorded, and never without a key otherwise", async () => {
    const secrets = { code: "pw-123456", hidden: "hid-123456", apiKey: "key-123456" }
    const { registry, audit, path } = await audited({ record: "redacted" })
    await registry.execute("t.typed", { name: "Bearer abcdefghijkl", ...secrets })
    await audit.close()
    const start = linesOf(path).find(({ phase }) => phase === "start")
    expect(start?.["input"]).toEqual({ name: "Bearer ***" })
    expect(start?.["removed"]).toEqual(["/name", "/code", "/hidden", "/apiKey"])
    for (const secret of Object.values(secrets)) {
      expect(readFileSync(path, "utf8")).not.toContain(secret)
    }

    const plain = await audited({ key: undefined })
    await plain.registry.execute("t.write", { a: 1 })
    await plain.audit.close()
    expect(linesOf(plain.path).filter((line) => "input" in line)).toEqual([])
    await expect(openAudit(logPath(), { record: "fingerprint" })).rejects.toThrow('needs "key"')
  })

  test("keeps what a caller chose on one line, in ASCII, cut and without credentials", async () => {
    const { registry, audit, path } = await audited({ record: "redacted" })
    const forged = '"}\n{"seq":9,"phase":"end"}\r\n\u2028\u009b31m\u202e'
    await registry.execute(
      "t.write",
      { text: forged },
      {
        requestId: `Bearer abcdefghijkl ${forged}${"x".repeat(5000)}`,
        identity: { id: forged, scopes: [] },
      },
    )
    await audit.close()
    const text = readFileSync(path, "latin1")
    expect(text).toMatch(/^[ -~\n]*$/)
    expect(text.split("\n")).toHaveLength(4)
    expect(text).not.toContain("abcdefghijkl")
    expect(linesOf(path)[1]).toMatchObject({ identity: forged, input: { text: forged } })
    expect(String(linesOf(path)[1]?.["requestId"]).length).toBeLessThan(300)
    expect(await verifyAudit(path, { key: KEY })).toMatchObject({ ok: true, lines: 3 })
  })

  test("tells calls with the same request id apart", async () => {
    const { registry, audit, path } = await audited()
    const options = { requestId: "same" }
    await Promise.all([
      registry.execute("t.write", 1, options),
      registry.execute("t.write", 2, options),
      registry.execute("t.fail", 3, options).catch(() => undefined),
    ])
    await audit.close()
    const lines = linesOf(path)
    const starts = lines.filter(({ phase }) => phase === "start").map(({ seq }) => seq)
    const ends = lines.filter(({ phase }) => phase === "end").map(({ start }) => start)
    expect(new Set(ends)).toEqual(new Set(starts))
    expect(new Set(ends).size).toBe(3)
  })

  test("loses none of 10,000 calls, and writes those of one turn together", async () => {
    const { registry, audit, path, ran } = await audited({ fsync: "never" })
    const calls = Array.from({ length: 10_000 }, (_, at) => registry.execute("t.write", at))
    await Promise.all(calls)
    await audit.close()
    expect(ran).toHaveLength(10_000)
    expect(await verifyAudit(path, { key: KEY })).toMatchObject({
      ok: true,
      lines: 20_001,
      isTorn: false,
      problems: [],
      head: audit.head,
    })
  })

  test("begins another file when one is full, keeps some, and verifies across them", async () => {
    const path = logPath()
    const { registry, audit } = await audited({ maxBytes: 2000, keep: 2 }, path)
    for (let at = 0; at < 30; at++) await registry.execute("t.write", at)
    await audit.close()
    const files = readdirSync(dirname(path)).toSorted()
    expect(files).toHaveLength(3)
    expect(files[0]).toBe("audit.jsonl")
    for (const file of files) expect(statSync(`${dirname(path)}/${file}`).size).toBeLessThan(3000)
    const report = await verifyAudit(path, { key: KEY, head: audit.head })
    expect(report).toMatchObject({ ok: true, head: { seq: audit.head.seq } })

    const again = await audited({ maxBytes: 2000 }, path)
    await again.registry.execute("t.write", "more")
    await again.audit.close()
    expect(await verifyAudit(path, { key: KEY, head: audit.head })).toMatchObject({ ok: true })

    renameSync(`${dirname(path)}/${files[1]}`, `${dirname(path)}/moved`)
    const { ok, problems } = await verifyAudit(path, { key: KEY })
    expect(ok).toBe(false)
    expect(problems[0]?.message).toContain("are missing")
  })

  test("sets a torn last line aside, and continues the chain", async () => {
    const first = await audited()
    await first.registry.execute("t.write", 1)
    await first.audit.close()
    appendFileSync(first.path, '{"seq":4,"at":"20')
    expect(await verifyAudit(first.path, { key: KEY })).toMatchObject({ ok: true, isTorn: true })

    const second = await audited({}, first.path)
    await second.registry.execute("t.write", 2)
    await second.audit.close()
    expect(readFileSync(`${first.path}.torn`, "utf8")).toBe('{"seq":4,"at":"20\n')
    expect(linesOf(first.path).map(({ phase }) => phase)).toEqual([
      ..."file start end open start end".split(" "),
    ])
    expect(await verifyAudit(first.path, { key: KEY })).toMatchObject({ ok: true, isTorn: false })
  })

  test("does not continue a log that was changed, or sealed with another key", async () => {
    const { registry, audit, path } = await audited()
    await registry.execute("t.write", 1)
    await audit.close()
    await expect(openAudit(path, { key: "another key" })).rejects.toMatchObject({
      code: "DATA_LOSS",
      message: expect.stringContaining("line 1 was changed, inserted, or written with another key"),
    })
    writeFileSync(path, readFileSync(path, "utf8").replace("t.write", "t.wrote"))
    await expect(openAudit(path, { key: KEY })).rejects.toThrow(
      /audit\.jsonl" is not as it was written: line 2 was changed.*begin another file/,
    )
    expect(readdirSync(dirname(path))).toEqual(["audit.jsonl"])
  })

  test("has one writer for a file, and names the other", async () => {
    const { path, audit } = await audited()
    await expect(openAudit(path, { key: KEY })).rejects.toThrow(
      new RegExp(`Process ${process.pid} of .* writes the audit log .*its own file`),
    )
    await audit.close()
    await (await openAudit(path, { key: KEY })).close()
  })

  test("refuses mutations when another program changes the file under it", async () => {
    const { registry, path, ran } = await audited()
    await registry.execute("t.write", 1)
    appendFileSync(path, "a line of another program\n")
    await expect(registry.execute("t.write", 2)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
      message: expect.stringContaining("Another program has changed, moved or removed"),
    })
    await registry.execute("t.read", {})
    expect(ran).toEqual([1])
  })

  test("continues when the file can be written again, and says how many lines are missing", async () => {
    const { registry, audit, path, ran } = await audited()
    await registry.execute("t.write", 1)
    renameSync(path, `${path}.away`)
    await expect(registry.execute("t.write", 2)).rejects.toMatchObject({ code: "UNAVAILABLE" })
    await registry.execute("t.read", 3)
    // The lines of both are given up before the file is back.
    await expect(registry.execute("t.write", 4)).rejects.toMatchObject({ code: "UNAVAILABLE" })
    renameSync(`${path}.away`, path)
    await registry.execute("t.write", 5)
    await audit.close()
    expect(ran).toEqual([1, 5])
    const gap = linesOf(path).find(({ phase }) => phase === "gap")
    expect(Number(gap?.["missing"])).toBeGreaterThanOrEqual(2)
    expect(await verifyAudit(path, { key: KEY })).toMatchObject({ ok: true })
  })

  test("refuses mutations once it is closed", async () => {
    const { registry, audit, ran } = await audited()
    await audit.close()
    await expect(registry.execute("t.write", 1)).rejects.toMatchObject({ code: "UNAVAILABLE" })
    await registry.execute("t.read", {})
    expect(ran).toEqual([])
  })

  test("reports the last line at the start and at the end", async () => {
    const heads: AuditHead[] = []
    const { registry, audit } = await audited({ onHead: (head) => heads.push(head) })
    await registry.execute("t.write", 1)
    await registry.execute("t.write", 2)
    await audit.close()
    expect(heads.map(({ seq }) => seq)).toEqual([2, 5])
    expect(heads.at(-1)).toEqual(audit.head)
  })

  test("writes nothing after it was detached", async () => {
    const path = logPath()
    const audit = await openAudit(path, { key: KEY, logger: silentLogger })
    const { registry } = await audited()
    audit.attach(registry)()
    await registry.execute("t.write", 1)
    await audit.close()
    expect(readFileSync(path, "utf8")).toBe("")
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})
