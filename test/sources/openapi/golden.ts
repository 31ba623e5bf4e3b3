import { createHash } from "node:crypto"
import type { ImportedOperation, ImportedOperations } from "../../../src/from-openapi.ts"

/** A document of more operations has a digest in its golden file, and some of its lines. */
const WHOLE = 300
const SHOWN = 160

/** Where the golden file of a document lies. */
export function goldenPath(file: string): string {
  const name = file.replace(/\.(?:json|ya?ml)(?:\.gz)?$/, "").replaceAll("/", "__")
  return `golden/${name}.txt`
}

/** What a document gives, name by name. */
export function goldenOf(operations: ImportedOperations): string {
  const { counts, warnings } = operations.report
  const lines = operations.map(lineOf)
  const isWhole = lines.length <= WHOLE
  const step = Math.max(50, Math.ceil(lines.length / SHOWN))
  const head = [
    `operations ${operations.length}`,
    ...Object.entries(counts).map(([status, count]) => `${status} ${count}`),
    ...["query", "mutation", "subscription"].map(
      (type) => `${type} ${operations.filter((operation) => operation.type === type).length}`,
    ),
    ...warnings.map((warning) => `warning ${warning}`),
  ]
  if (!isWhole) head.push(`sha256 ${createHash("sha256").update(lines.join("\n")).digest("hex")}`)
  const shown = isWhole ? lines : lines.filter((_, index) => index % step === 0)
  return `${[...head, "", ...shown].join("\n").trimEnd()}\n`
}

function lineOf({ name, type, _meta = {} }: ImportedOperation): string {
  const { method, path } = _meta["openapi"] as { method: string; path: string }
  return `${name} ${type} ${method} ${path}`
}
