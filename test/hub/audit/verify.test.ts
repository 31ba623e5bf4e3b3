import { readFileSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { verifyAudit } from "../../../src/node.ts"
import { audited, KEY, linesOf, logPath } from "./support.ts"

/** The lines of a log of four mutations, with its last line. */
async function written(): Promise<{ path: string; lines: string[]; head: never }> {
  const { registry, audit, path } = await audited()
  for (let at = 0; at < 4; at++) {
    await registry.execute("t.write", { at }, { identity: { id: "zoë", scopes: [] } })
  }
  await audit.close()
  const lines = readFileSync(path, "latin1").split("\n").slice(0, -1)
  return { path, lines, head: audit.head as never }
}

async function check(
  text: string,
  head?: { readonly seq: number; readonly seal: string },
  key: string | undefined = KEY,
): ReturnType<typeof verifyAudit> {
  const path = logPath()
  writeFileSync(path, text, "latin1")
  return await verifyAudit(path, { key, head })
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("")

describe("verifyAudit", () => {
  test("finds any change of any byte, and any byte that is inserted or removed", async () => {
    const { lines, head } = await written()
    const text = joined(lines)
    const edit = fc.record({
      at: fc.nat(text.length - 1),
      removed: fc.integer({ min: 0, max: 3 }),
      inserted: fc.string({
        unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
        maxLength: 3,
      }),
    })
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, removed, inserted }) => {
        const edited = text.slice(0, at) + inserted + text.slice(at + removed)
        fc.pre(edited !== text)
        const { ok, isTorn, problems } = await check(edited, head)
        expect(ok && !isTorn).toBe(false)
        const line = text.slice(0, at).split("\n").length
        // The edit is in this line or, if it is a line break, between this one and the next.
        expect(Math.abs((problems[0]?.line ?? line) - line)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 300 },
    )
  })

  test("finds lines that are removed, repeated, swapped or inserted, and says where", async () => {
    const { lines, head } = await written()
    const at = fc.nat(lines.length - 1)
    await fc.assert(
      fc.asyncProperty(at, at, fc.constantFrom("remove", "copy", "swap"), async (one, two, how) => {
        const edited = [...lines]
        if (how === "remove") edited.splice(one, 1)
        else if (how === "copy") edited.splice(one, 0, lines[two] as string)
        else [edited[one], edited[two]] = [lines[two] as string, lines[one] as string]
        fc.pre(edited.join() !== lines.join())
        const { ok, problems } = await check(joined(edited), head)
        expect(ok).toBe(false)
        const first = edited.findIndex((line, index) => line !== lines[index])
        const place = first === -1 ? edited.length : first + 1
        expect(problems[0]?.line).toBe(place)
      }),
      { numRuns: 200 },
    )
  })

  test("says which lines are missing", async () => {
    const { lines, head } = await written()
    const gap = await check(joined([...lines.slice(0, 3), ...lines.slice(5)]), head)
    expect(gap.problems).toMatchObject([
      { line: 4, message: "follows a gap: lines 4 to 5 are missing" },
    ])
    const beginning = await check(joined(lines.slice(2)), head)
    expect(beginning.problems[0]?.message).toBe(
      "is not the first line of a file: lines before it are missing",
    )
  })

  test("finds an end that was cut off only with a line that was kept elsewhere", async () => {
    const { lines, head } = await written()
    const cut = joined(lines.slice(0, 5))
    expect(await check(cut)).toMatchObject({ ok: true, lines: 5 })
    expect(await check(cut, head)).toMatchObject({
      ok: false,
      problems: [{ line: 5, message: "is the last one: lines 6 to 9 were cut off" }],
    })
    expect(await check("", head)).toMatchObject({ ok: false, lines: 0 })
  })

  test("finds a log that was written again, with another key or with none", async () => {
    const { path, lines, head } = await written()
    expect((await check(joined(lines), undefined, "another key")).problems).toHaveLength(9)
    expect((await verifyAudit(path)).ok).toBe(false)
    const forged = await audited({ key: undefined })
    for (let at = 0; at < 4; at++) await forged.registry.execute("t.write", at)
    await forged.audit.close()
    expect(await verifyAudit(forged.path)).toMatchObject({ ok: true, lines: 9 })
    expect((await verifyAudit(forged.path, { key: KEY })).ok).toBe(false)
    const other = await written()
    expect((await verifyAudit(other.path, { key: KEY, head })).problems).toMatchObject([
      { line: 9, message: "is not the one whose seal was kept: the log was replaced" },
    ])
  })

  test.each([
    ["no line break", "x".repeat(10_000_000)],
    ["empty lines", "\n".repeat(10_000)],
    ["deep JSON", `${"[".repeat(100_000)}\n`],
    ["a forged beginning", '{"seq":1,"phase":"file","part":null,"prev":"","seal":""}\n'],
    ["bytes", "\u0000\u00ff\n\r\n"],
  ])("reads a file with %s", async (_, text) => {
    const { ok, isTorn, problems } = await check(text)
    expect(ok && !isTorn).toBe(false)
    expect(problems.length).toBeLessThanOrEqual(100)
  })

  test("rejects a log that does not exist", async () => {
    await expect(verifyAudit(logPath())).rejects.toThrow("There is no audit log")
  })

  test("uses ids that are not ASCII as they are", async () => {
    const { path } = await written()
    expect(linesOf(path)[1]).toMatchObject({ identity: "zoë" })
  })
})
