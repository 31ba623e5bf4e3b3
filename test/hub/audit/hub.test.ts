import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { resolveConfig } from "../../../src/config.ts"
import { createHub, openAudit, verifyAudit } from "../../../src/node.ts"
import type { Hub, HubOptions } from "../../../src/node.ts"
import type { AuditConfig } from "../../../src/config/model.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { operation } from "../../support/operations.ts"
import { KEY, linesOf, logPath } from "./support.ts"

const write = operation("t.write", { type: "mutation", handler: () => "written" })
const read = operation("t.read", { type: "query", handler: () => "read" })

function hubOf(audit: AuditConfig | undefined, options: HubOptions = {}, baseDir = "."): Hub {
  const config = resolveConfig({ sources: {}, audit }, { baseDir })
  const hub = createHub(config, { logger: silentLogger, ...options })
  onTestFinished(() => hub.close())
  hub.registry.registerAll([write, read])
  return hub
}

describe("the audit log of a hub", () => {
  test("is that of its configuration, whose key is a reference", async () => {
    const folder = logPath(".")
    const config = { file: "logs/audit.jsonl", key: "${env:AUDIT_KEY}" }
    const env = { AUDIT_KEY: "a key that nobody should see" }
    const hub = hubOf(config, { env }, folder)
    // At once: calls wait until it is open.
    await hub.registry.execute("t.write", {}, { requestId: `with ${env.AUDIT_KEY}` })
    await hub.ready()
    await hub.registry.execute("t.read", {})
    await hub.close()
    const path = join(folder, "logs/audit.jsonl")
    const phases = linesOf(path).map(({ phase, operation: id }) => [phase, id])
    expect(phases).toEqual([
      ["file", undefined],
      ["start", "t.write"],
      ["end", "t.write"],
      ["end", "t.read"],
    ])
    expect(await verifyAudit(path, { key: env.AUDIT_KEY })).toMatchObject({ ok: true })
    expect(readFileSync(path, "utf8")).not.toContain(env.AUDIT_KEY)
    expect(linesOf(path)[1]?.["requestId"]).toBe("with ***")
  })

  test("refuses mutations while it cannot be opened, and logs why", async () => {
    const errors: unknown[] = []
    const logger = { ...silentLogger, error: (...line: unknown[]) => errors.push(line) }
    const hub = hubOf({ file: logPath(), key: "${env:NOT_SET}" }, { env: {}, logger })
    await hub.ready()
    await expect(hub.registry.execute("t.write", {})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining('the variable "NOT_SET" is not set'),
    })
    await hub.registry.execute("t.read", {})
    expect(errors).toHaveLength(1)
    expect(JSON.stringify(errors)).toContain("mutations are refused until it can be")
  })

  test("may be one that the application opened, and is not closed by the hub", async () => {
    const path = logPath()
    const audit = await openAudit(path, { key: KEY, logger: silentLogger })
    const hub = hubOf({ file: logPath("unused.jsonl") }, { audit })
    await hub.registry.execute("t.write", {})
    await hub.close()
    expect(audit.head.seq).toBeGreaterThanOrEqual(2)
    await audit.close()
    expect(linesOf(path)).toHaveLength(3)
  })

  test.each([
    [{ file: "" }, '"audit.file" must not be empty'],
    [{ key: "x" }, '"audit" needs "file"'],
    [{ file: "a", record: "fingerprint" }, '"record": "fingerprint" and needs "key"'],
    [{ file: "a", record: "all" }, '"audit.record" must be'],
    [{ file: "a", onFailur: "continue" }, 'Did you mean "onFailure"?'],
  ])("reports mistakes of its configuration: %j", (audit, message) => {
    expect(() => resolveConfig({ audit }, { baseDir: "." })).toThrow(message)
  })
})
