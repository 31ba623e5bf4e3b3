type Box = Record<string, unknown>

/** What says nothing about how an operation is called, and is often large. */
const LEFT_OUT: ReadonlySet<string> = new Set(["tags", "webhooks", "externalDocs"])

/**
 * Some paths of a large document, each as a document of its own with the components it needs.
 *
 * So that what only large documents have is changed as well, and not only by its size.
 */
export function slicesOf(document: Box, count: number): Box[] {
  const { paths, components, definitions, parameters, responses, ...others } = document
  const rest = Object.entries(others).filter(([key]) => !key.startsWith("x-") && !LEFT_OUT.has(key))
  if (typeof paths !== "object" || paths === null) return []
  const all = Object.entries(paths as Box)
  const step = Math.max(1, Math.floor(all.length / count))
  return all
    .filter((_, index) => index % step === 0)
    .map(([path, item]) => {
      const slice: Box = { ...Object.fromEntries(rest), paths: { [path]: item } }
      const seen = new Set<string>()
      const todo: unknown[] = [item]
      const shared = { components, definitions, parameters, responses }
      // The list grows while it is walked.
      for (const node of todo) {
        if (typeof node !== "object" || node === null) continue
        todo.push(...Object.values(node))
        const { $ref } = node as { $ref?: unknown }
        if (typeof $ref !== "string" || seen.has($ref)) continue
        seen.add($ref)
        todo.push(take($ref, shared, slice))
      }
      const { securitySchemes } = (components ?? {}) as Box
      if (securitySchemes !== undefined) {
        slice["components"] = { ...(slice["components"] as object), securitySchemes }
      }
      return slice
    })
}

/** Puts what a reference names into the slice as well. */
function take(ref: string, from: Box, slice: Box): unknown {
  const tokens = ref.replace(/^#\//, "").split("/").map(unescape)
  const depth = tokens[0] === "components" ? 3 : 2
  if (tokens.length < depth) return undefined
  let source: unknown = from
  let target = slice
  for (const [index, token] of tokens.slice(0, depth).entries()) {
    if (typeof source !== "object" || source === null || !Object.hasOwn(source, token))
      return undefined
    source = (source as Box)[token]
    if (index === depth - 1) target[token] = source
    else target = (target[token] ??= {}) as Box
  }
  return source
}

function unescape(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~")
}
