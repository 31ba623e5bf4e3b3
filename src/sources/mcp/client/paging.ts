import { SKILLS, type JsonObject } from "../../../mcp/model.ts"
import type { ResolvedServer } from "../config.ts"
import { memberOf } from "./sdk.ts"
import { findHeaderIssue } from "./header-params.ts"
import type { MCPList, MCPListKind, MCPPeer } from "./model.ts"

/** The request and the capability of each kind of list. */
export const LISTS: Readonly<
  Record<MCPListKind, { readonly method: string; readonly capability: string }>
> = {
  tools: { method: "tools/list", capability: "tools" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
  skills: { method: "skills/list", capability: SKILLS },
}

/** Whether a server declares a capability or an extension. */
export function declares({ capabilities }: Pick<MCPPeer, "capabilities">, name: string): boolean {
  const place = name === SKILLS ? memberOf(capabilities, "extensions") : capabilities
  return memberOf(place, name) !== undefined
}

/** Fetches all pages of a list, up to the limits. */
export async function listAll(
  kind: MCPListKind,
  server: ResolvedServer,
  fetchPage: (params: JsonObject) => Promise<JsonObject>,
): Promise<MCPList> {
  const { maxPages, maxTools } = server
  const { method } = LISTS[kind]
  const items: unknown[] = []
  const warnings: string[] = []
  const seen = new Set<string>()
  let ttlMs: number | undefined
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const result = await fetchPage(cursor === undefined ? {} : { cursor })
    const page = memberOf(result, kind)
    if (Array.isArray(page)) for (const item of page as unknown[]) items.push(item)
    else warnings.push(`A response to "${method}" has no list of ${kind}.`)
    const lifetime = memberOf(result, "ttlMs")
    if (typeof lifetime === "number" && lifetime >= 0) ttlMs = Math.min(lifetime, ttlMs ?? lifetime)
    const next = memberOf(result, "nextCursor")
    // An empty string is a valid cursor.
    const hasMore = typeof next === "string"
    let warning: string | undefined
    if (items.length > maxTools || (items.length === maxTools && hasMore)) {
      items.length = maxTools
      warning = `There are more than ${maxTools} ${kind}; the rest is left out ("maxTools").`
    } else if (hasMore && seen.has(next)) {
      warning = `The list of ${kind} does not end: its page ${pages} leads back to an earlier one.`
    } else if (hasMore && pages >= maxPages) {
      warning = `The list of ${kind} has more than ${maxPages} pages; the rest is left out ("maxPages").`
    }
    if (warning !== undefined) warnings.push(warning)
    if (warning !== undefined || !hasMore) return { items, ttlMs, warnings }
    seen.add(next)
    cursor = next
  }
}

/** Leaves out tools that the protocol forbids to call over HTTP. */
export function withoutBadHeaders(
  list: MCPList,
  server: ResolvedServer,
  { era }: MCPPeer,
): MCPList {
  if (server.channel.kind !== "http" || era !== "modern") return list
  const warnings = [...list.warnings]
  const items = list.items.filter((item) => {
    const issue = findHeaderIssue(memberOf(item, "inputSchema"))
    if (issue === undefined) return true
    warnings.push(`Tool "${String(memberOf(item, "name"))}" is left out: ${issue}.`)
    return false
  })
  return { ...list, items, warnings }
}
