import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, onTestFinished, test } from "vitest"
import { openAudit, verifyAudit } from "../../../src/node.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { program } from "../../sources/mcp/support/program.ts"
import { linesOf, logPath } from "./support.ts"

const key = "the key of two processes"
const WRITER = join(import.meta.dirname, "writer.ts")

interface Writer {
  readonly child: ChildProcess
  next(): Promise<Record<string, unknown>>
}

/** A process that calls operations; ends with its test. `before` is a line of bash. */
function writer(args: readonly string[], before = ""): Writer {
  const words = [process.execPath, program(WRITER), ...args].map((word) => `'${word}'`).join(" ")
  const child = spawn("bash", ["-c", `${before}\nexec ${words}`], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "exit")
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async next() {
      const { value } = (await lines.next()) as { value?: string }
      return JSON.parse(value ?? "{}") as Record<string, unknown>
    },
  }
}

describe("an audit log and processes", () => {
  test("has one writer: another process is refused, and told what to do", async () => {
    const path = logPath()
    const first = writer([path, "hold"])
    expect(await first.next()).toEqual({ ready: true })
    const second = await writer([path, "hold"]).next()
    expect(second["code"]).toBe("UNAVAILABLE")
    expect(second["message"]).toMatch(
      new RegExp(`Process ${first.child.pid} of .* writes the audit log .*give each its own file`),
    )
    first.child.stdin?.end("stop")
    await once(first.child, "exit")
    expect(await writer([path, "hold"]).next()).toEqual({ ready: true })
    expect(await verifyAudit(path, { key })).toMatchObject({ ok: true })
  })

  test("takes over from a process that was killed, and keeps every line of calls that ran", async () => {
    const path = logPath()
    for (let round = 0; round < 3; round++) {
      const endless = writer([path, "endless"])
      let { ran } = await endless.next()
      for (let count = 0; count < 5 + round * 3; count++) ({ ran } = await endless.next())
      endless.child.kill("SIGKILL")
      await once(endless.child, "exit")
      const report = await verifyAudit(path, { key })
      expect(report).toMatchObject({ ok: true, problems: [] })
      const starts = linesOf(path).filter(({ phase }) => phase === "start")
      expect(starts.length).toBeGreaterThanOrEqual(Number(ran))
      expect(typeof ran).toBe("number")
    }
    const audit = await openAudit(path, { key, logger: silentLogger })
    await audit.close()
    expect(await verifyAudit(path, { key })).toMatchObject({ ok: true, isTorn: false })
    expect(linesOf(path).filter(({ phase }) => phase === "open")).toHaveLength(2)
  })

  test("lets no mutation run when the file cannot grow, while queries do", async () => {
    const path = logPath()
    // In units of 1024 bytes.
    const limited = writer([path, "fill"], "ulimit -f 16")
    const exited = once(limited.child, "exit")
    const full = await limited.next()
    // Until then, a part of a line that did not fit may be there.
    await exited
    const { calls, ran, code, mayHaveExecuted, reads } = full
    expect({ code, mayHaveExecuted, reads }).toEqual({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
      reads: [1, 2, 3],
    })
    expect(ran).toBe(Number(calls) - 1)
    expect(Number(ran)).toBeGreaterThan(5)
    expect(statSync(path).size).toBeLessThanOrEqual(16 * 1024)
    // What was written before is whole, and has every call that ran.
    expect(await verifyAudit(path, { key })).toMatchObject({ ok: true, isTorn: false })
    const starts = linesOf(path).filter(({ phase }) => phase === "start")
    expect(starts).toHaveLength(Number(ran))

    // With room again, it continues, and says what is missing.
    const again = writer([path, "hold"])
    expect(await again.next()).toEqual({ ready: true })
    expect(await verifyAudit(path, { key })).toMatchObject({ ok: true })
  })

  test("lets mutations run without their lines where the operator said so", async () => {
    const path = logPath()
    const { calls, ran, code } = await writer([path, "fill", "continue"], "ulimit -f 8").next()
    expect({ calls, ran, code }).toEqual({ calls: 2000, ran: 2000, code: undefined })
    expect(await verifyAudit(path, { key })).toMatchObject({ ok: true })
    expect(readFileSync(path, "utf8").length).toBeLessThanOrEqual(8 * 1024)
  })
})
