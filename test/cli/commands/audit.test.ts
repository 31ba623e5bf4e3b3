import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { verifyAudit } from "../../../src/node.ts"
import { audited, KEY, logPath } from "../../hub/audit/support.ts"
import { runCommand } from "../../support/command-io.ts"
import type { Ran } from "../../support/command-io.ts"

let path = ""

/** A log of two callers. */
async function log(): Promise<string> {
  const { registry, audit, path: own } = await audited()
  const ada = { identity: { id: "ada", scopes: [] } }
  await registry.execute("t.write", { to: "x" }, ada)
  await registry.execute("t.fail", {}, ada).catch(() => undefined)
  await registry.execute("t.read", {}, { identity: { id: "bob\u001b[31m", scopes: [] } })
  await audit.close()
  path = own
  return own
}

async function command(args: readonly string[], key: string = KEY): Promise<Ran> {
  return await runCommand(["audit", ...args], {
    cwd: dirname(path),
    env: { OPERATIONS_AUDIT_KEY: key },
  })
}

async function found(...args: string[]): Promise<unknown[]> {
  const { stdout } = await command(["search", path, ...args, "--json"])
  return JSON.parse(stdout) as unknown[]
}

describe("operations audit", () => {
  test("tail prints the last lines, and nothing that a terminal would obey", async () => {
    await log()
    const { code, stdout } = await command(["tail", path, "-n", "2"])
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split("\n")
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/end +mutation +t\.fail +ada +error +EXECUTION_ERROR/)
    expect(lines[1]).toContain("\\u001b[31m")
  })

  test("search finds lines by operation, caller, code, time and input", async () => {
    await log()
    expect(await found("--operation", "t.write")).toMatchObject([
      { phase: "start", operation: "t.write" },
      { phase: "end", operation: "t.write" },
    ])
    expect(await found("--identity", "ada")).toHaveLength(4)
    expect(await found("--code", "EXECUTION_ERROR")).toHaveLength(1)
    expect(await found("--input", '{ "to": "x" }')).toMatchObject([{ operation: "t.write" }])
    expect(await found("--input", "{}")).toMatchObject([
      { operation: "t.fail" },
      { operation: "t.read" },
    ])
    expect(await found("--since", "2999-01-01")).toEqual([])
    expect(await found("--since", "2000-01-01", "--limit", "1")).toHaveLength(1)
  })

  test("search --open finds mutations without an end", async () => {
    await log()
    expect(await found("--open")).toEqual([])
    const lines = readFileSync(path, "utf8").split("\n")
    writeFileSync(path, lines.filter((line) => !line.includes(`"start":2,`)).join("\n"))
    expect(await found("--open")).toMatchObject([{ seq: 2, operation: "t.write" }])
  })

  test("verify says whether the log is as it was written, and where it is not", async () => {
    await log()
    const whole = await command(["verify", path])
    expect(whole.code).toBe(0)
    const { head } = await verifyAudit(path, { key: KEY })
    expect(whole.stdout).toBe(`✓ 6 lines as written, up to 6:${head.seal}\n`)

    const text = readFileSync(path, "utf8")
    writeFileSync(path, text.split("\n").slice(0, 4).join("\n") + "\n")
    expect((await command(["verify", path])).code).toBe(0)
    const cut = await command(["verify", path, "--head", `6:${head.seal}`])
    expect(cut.code).toBe(1)
    expect(cut.stdout).toContain("line 4 is the last one: lines 5 to 6 were cut off")

    writeFileSync(path, text.replace("t.write", "t.wrote"))
    const changed = await command(["verify", path, "--json"])
    expect(changed.code).toBe(1)
    expect(JSON.parse(changed.stdout)).toMatchObject({ ok: false, problems: [{ line: 2 }] })
    appendFileSync(path, "torn")
    expect((await command(["verify", path], "")).stderr).toContain("Without a key")
  })

  test("reads the log of the configuration, with its key", async () => {
    await log()
    const config = join(dirname(path), "operations.config.json")
    const audit = { file: "audit.jsonl", key: "${env:OPERATIONS_AUDIT_KEY}" }
    writeFileSync(config, JSON.stringify({ sources: {}, audit }))
    const { code, stdout } = await command(["verify", "--config", config])
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("6 lines") })
    writeFileSync(config, JSON.stringify({ sources: {} }))
    const none = await command(["tail", "--config", config])
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('The configuration has no "audit"')
  })

  test.each([
    [["read", "x"], 'Write "audit tail", "audit search" or "audit verify"; got "read".'],
    [["verify", "x", "--head", "5"], "--head takes the number and the seal"],
    [["search", "x", "--since", "soon"], "--since takes a time"],
    [["search", "x", "--input", "{"], "--input takes JSON"],
    [["tail", "none.jsonl"], "There is no audit log"],
  ])("refuses %j", async (args, message) => {
    path = logPath()
    const ran = await command(args)
    expect(ran.stderr).toContain(message)
    expect(ran.code).toBe(2)
  })
})
