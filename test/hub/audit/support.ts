import { mkdtempSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { openAudit } from "../../../src/node.ts"
import type { Audit, AuditOptions } from "../../../src/node.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import type { OperationRegistry } from "../../../src/index.ts"
import { operation, quietRegistry } from "../../support/operations.ts"

export const KEY = "a key of the operator, for tests"

/** A path in a folder that is gone after its test. */
export function logPath(name = "audit.jsonl"): string {
  const folder = mkdtempSync(join(tmpdir(), "audit-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, name)
}

/** The members of each line of a log. */
export function linesOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

export interface Audited {
  readonly registry: OperationRegistry
  readonly audit: Audit
  readonly path: string
  /** Ids of mutations that ran. */
  readonly ran: unknown[]
}

/** A registry whose calls are audited. */
export async function audited(
  options: AuditOptions = {},
  path: string = logPath(),
): Promise<Audited> {
  const ran: unknown[] = []
  const registry = quietRegistry([
    operation("t.read", { type: "query", handler: (input: unknown) => input }),
    operation("t.write", {
      type: "mutation",
      handler: (input: unknown) => {
        ran.push(input)
        return "written"
      },
    }),
    operation("t.fail", {
      type: "mutation",
      handler: () => {
        throw new Error("the password is hunter2hunter2")
      },
    }),
    operation("t.scoped", {
      type: "mutation",
      accessControl: { requiredScopes: ["pay"] },
      handler: () => ran.push("paid"),
    }),
    operation("t.typed", {
      type: "mutation",
      inputSchema: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          code: { type: "string", format: "password" },
          hidden: { type: "string", writeOnly: true },
        },
      },
      handler: () => "typed",
    }),
    operation("t.stream", {
      type: "subscription",
      async *handler() {
        yield 1
        yield 2
      },
    }),
  ])
  const audit = await openAudit(path, { key: KEY, logger: silentLogger, ...options })
  onTestFinished(() => audit.close())
  audit.attach(registry)
  return { registry, audit, path, ran }
}
