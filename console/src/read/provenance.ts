import type { OperationSpec, SourceStatus } from "../api/model.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import { listOf, textOf } from "../../../src/schema/json.ts"

/** One line about the origin of an operation. */
export interface Origin {
  readonly label: string
  readonly value: string
  /** Whether it is a warning. */
  readonly isWarning?: boolean | undefined
}

/** Words for kinds of sources; others are shown by their names. */
const KINDS: Readonly<Partial<Record<string, string>>> = {
  scan: "Source files",
  openapi: "OpenAPI document",
  mcp: "MCP server",
  remote: "Hub",
}

/** The origin of an operation: its source, and its place there. */
export function provenanceOf(
  spec: Pick<OperationSpec, "_meta">,
  source?: SourceStatus,
): readonly Origin[] {
  return [...sourceLines(source), ...openapiLines(spec), ...mcpLines(spec._meta?.["mcp"], source)]
}

/** The source of an operation, by its name, else by the namespace that its id begins with. */
export function sourceFor(
  id: string,
  name: string | undefined,
  sources: readonly SourceStatus[],
): SourceStatus | undefined {
  const named = sources.find((source) => source.name === name)
  if (named !== undefined || name !== undefined) return named
  const matching = sources.filter(
    ({ namespace }) => namespace !== "" && id.startsWith(`${namespace}.`),
  )
  return matching.toSorted((left, right) => right.namespace.length - left.namespace.length)[0]
}

function sourceLines(source: SourceStatus | undefined): readonly Origin[] {
  if (source === undefined) return []
  return [
    { label: "Source", value: source.name },
    { label: KINDS[source.kind] ?? source.kind, value: source.origin },
  ]
}

/** The request that an operation of an OpenAPI document is: `GET /pets/{id}`. */
export function requestOf({ _meta }: Pick<OperationSpec, "_meta">): string | undefined {
  const openapi = _meta?.["openapi"]
  if (!isRecord(openapi)) return undefined
  const parts = [textOf(openapi["method"])?.toUpperCase(), textOf(openapi["path"])]
  return textOf(parts.filter((text) => text !== undefined).join(" "))
}

function openapiLines(spec: Pick<OperationSpec, "_meta">): readonly Origin[] {
  const openapi = spec._meta?.["openapi"]
  return [
    ...line("Request", requestOf(spec)),
    ...(isRecord(openapi) ? line("operationId", openapi["operationId"]) : []),
  ]
}

function mcpLines(mcp: unknown, source: SourceStatus | undefined): readonly Origin[] {
  if (!isRecord(mcp)) return []
  const tool = isRecord(mcp["tool"]) ? mcp["tool"] : {}
  const hidden = listOf(mcp["hiddenText"]).filter(isRecord)
  return [
    ...(source === undefined ? line("MCP server", mcp["server"]) : []),
    ...line("Tool", tool["name"]),
    ...line("Resource", mcp["uri"] ?? mcp["uriTemplate"]),
    ...line("Prompt", mcp["prompt"]),
    ...line("Fingerprint", textOf(mcp["fingerprint"])?.slice(0, 12)),
    ...hidden.map((one) => ({
      label: "Hidden characters",
      value: `${listOf(one["characters"]).join(", ")} at ${String(one["path"])}`,
      isWarning: true,
    })),
    ...listOf(mcp["diagnostics"]).map((text) => ({
      label: "Not taken over",
      value: String(text),
      isWarning: true,
    })),
  ]
}

function line(label: string, value: unknown): readonly Origin[] {
  const text = textOf(value)
  return text === undefined ? [] : [{ label, value: text }]
}
