import type { SettledServer } from "../config.ts"
import { memberOf } from "./frames.ts"
import { headerFault } from "./header-params.ts"
import type { MCPList, MCPListKind, MCPPeer } from "./model.ts"

/** How a kind of list is asked for. */
export const LISTS: Readonly<
  Record<MCPListKind, { readonly method: string; readonly capability: string }>
> = {
  tools: { method: "tools/list", capability: "tools" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
}

/** Follows the cursors to the end of a list, or as far as it goes on sensibly. */
export async function listAll(
  kind: MCPListKind,
  settled: SettledServer,
  page: (params: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>,
): Promise<MCPList> {
  const { maxPages, maxTools } = settled
  const { method } = LISTS[kind]
  const items: unknown[] = []
  const warnings: string[] = []
  const seen = new Set<string>()
  let ttlMs: number | undefined
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const result = await page(cursor === undefined ? {} : { cursor })
    const found = memberOf(result, kind)
    if (Array.isArray(found)) for (const item of found as unknown[]) items.push(item)
    else warnings.push(`An answer to "${method}" has no list of ${kind}.`)
    ttlMs = shorter(ttlMs, memberOf(result, "ttlMs"))
    const next = memberOf(result, "nextCursor")
    if (items.length > maxTools || (items.length === maxTools && typeof next === "string")) {
      items.length = maxTools
      warnings.push(`There are more than ${maxTools} ${kind}; the rest is left out ("maxTools").`)
      break
    }
    // An empty text is a cursor like any other.
    if (typeof next !== "string") break
    if (seen.has(next)) {
      warnings.push(
        `The list of ${kind} does not end: its page ${pages} leads back to an earlier one.`,
      )
      break
    }
    if (pages >= maxPages) {
      warnings.push(
        `The list of ${kind} has more than ${maxPages} pages; the rest is left out ("maxPages").`,
      )
      break
    }
    seen.add(next)
    cursor = next
  }
  return { items, ttlMs, warnings }
}

/** Leaves out tools that must not be called over HTTP, as the protocol demands. */
export function withoutBadHeaders(
  list: MCPList,
  settled: SettledServer,
  { era }: MCPPeer,
): MCPList {
  if (settled.channel.kind !== "http" || era !== "modern") return list
  const warnings = [...list.warnings]
  const items = list.items.filter((item) => {
    const fault = headerFault(memberOf(item, "inputSchema"))
    if (fault === undefined) return true
    warnings.push(`Tool "${String(memberOf(item, "name"))}" is left out: ${fault}.`)
    return false
  })
  return { ...list, items, warnings }
}

function shorter(one: number | undefined, other: unknown): number | undefined {
  if (typeof other !== "number" || !(other >= 0)) return one
  return one === undefined ? other : Math.min(one, other)
}
