import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readReport } from "../../tools/scripts/lib/referee.ts"

const folder = mkdtempSync(join(tmpdir(), "operations-report-"))

beforeAll(() => {
  const checks = [
    { id: "one", status: "SUCCESS" },
    { id: "two", status: "FAILURE", errorMessage: "It is blue." },
    { id: "three", status: "WARNING", errorMessage: "It should be green." },
  ]
  mkdirSync(join(folder, "auth/scope-2026-01-01T00-00-00"), { recursive: true })
  writeFileSync(join(folder, "auth/scope-2026-01-01T00-00-00/checks.json"), JSON.stringify(checks))
})

afterAll(() => rmSync(folder, { recursive: true }))

const subject = { leg: "client", revision: "2026-07-28", target: "" } as const

test("a report says what passed, what did not and what does not count", () => {
  const text = [
    "✓ tools_call: 2 passed, 0 failed",
    "✗ auth/scope: 1 passed, 1 failed, 1 warnings",
    "✓ extra: 0 passed, 0 failed",
    "Not scored:",
    "  ✓ extra (extension)",
  ].join("\n")

  expect(readReport(text, folder, subject)).toMatchObject([
    { name: "tools_call", isOk: true, isScored: true, passed: 2 },
    {
      name: "auth/scope",
      isOk: false,
      failures: ["two: It is blue."],
      warnings: ["three: It should be green."],
    },
    { name: "extra", isOk: true, isScored: false, passed: 0 },
  ])
})

test("a scenario that was run alone is read from its checks", () => {
  const [alone] = readReport("", folder, { ...subject, scenario: "auth/scope" })
  const [silent] = readReport("", folder, { ...subject, scenario: "nobody" })

  expect(alone).toMatchObject({ name: "auth/scope", isOk: false, passed: 1, failed: 1 })
  expect(silent, "no checks are no success").toMatchObject({ isOk: false })
})
