import { escapeToken } from "./json.ts"
import type { JsonSchema } from "./json.ts"

// No document carries this id: it exists only inside the schemas made here.
const ROOT_ID = "urn:alkdev:operations:root"

/**
 * A schema that checks what `part` checks inside `root`, references included.
 *
 * `undefined` when the part refers to the whole in a way that only its place could resolve, and it
 * has no place: it was put together from several.
 */
export function extractPart(part: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const farthest = reach(part)
  if (farthest === "nothing") return part
  // Definitions may refer to the whole themselves; then only the whole can resolve them.
  if (farthest === "definitions" && definitionsReach(root) !== "anything") {
    return { $defs: root["$defs"], allOf: [part] }
  }
  const id = typeof root["$id"] === "string" ? root["$id"] : ROOT_ID
  if (isOnlyRef(part, id)) return root
  const place = placesOf(root).get(part)
  if (place === undefined) return undefined
  return { $defs: { root: { ...root, $id: id } }, $ref: `${id}#${place}` }
}

/** A part that is nothing but a reference to the whole; TypeBox would follow it for ever. */
function isOnlyRef(part: JsonSchema, id: string): boolean {
  const { $ref } = part
  if (Object.keys(part).length !== 1) return false
  return $ref === "#" || $ref === id || $ref === `${id}#`
}

const reaches = new WeakMap<object, Reach>()

function definitionsReach(root: JsonSchema): Reach {
  let farthest = reaches.get(root)
  if (farthest === undefined) reaches.set(root, (farthest = reach(root["$defs"])))
  return farthest
}

type Reach = "nothing" | "definitions" | "anything"

/** How far the references of a schema reach, judged by their text alone. */
function reach(schema: unknown): Reach {
  let farthest: Reach = "nothing"
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || farthest === "anything") return
    for (const [key, item] of Object.entries(value)) {
      if (key === "$ref" && typeof item === "string") {
        if (!item.startsWith("#/$defs/")) farthest = "anything"
        else if (farthest === "nothing") farthest = "definitions"
      } else if (key === "$dynamicRef" || key === "$recursiveRef" || key === "$id") {
        farthest = "anything"
      } else visit(item)
    }
  }
  visit(schema)
  return farthest
}

const places = new WeakMap<JsonSchema, Map<object, string>>()

/** The JSON pointers, as URI fragments, of everything inside a schema. */
function placesOf(root: JsonSchema): Map<object, string> {
  const cached = places.get(root)
  if (cached !== undefined) return cached
  const pointers = new Map<object, string>()
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== "object" || value === null || pointers.has(value)) return
    pointers.set(value, pointer)
    for (const [key, item] of Object.entries(value)) {
      visit(item, `${pointer}/${encodeURIComponent(escapeToken(key))}`)
    }
  }
  visit(root, "")
  places.set(root, pointers)
  return pointers
}
