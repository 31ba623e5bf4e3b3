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
  switch (reach(part)) {
    case "nothing":
      return part
    case "definitions":
      return { $defs: root["$defs"], allOf: [part] }
    case "anything": {
      const place = placesOf(root).get(part)
      if (place === undefined) return undefined
      const id = typeof root["$id"] === "string" ? root["$id"] : ROOT_ID
      return { $defs: { root: { ...root, $id: id } }, $ref: `${id}#${place}` }
    }
  }
}

type Reach = "nothing" | "definitions" | "anything"

/** How far the references of a schema reach, by the letter of their text. */
function reach(schema: unknown): Reach {
  let farthest: Reach = "nothing"
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || farthest === "anything") return
    for (const [key, item] of Object.entries(value)) {
      if (key === "$ref" && typeof item === "string") {
        farthest = item.startsWith("#/$defs/") ? max(farthest, "definitions") : "anything"
      } else if (key === "$dynamicRef" || key === "$recursiveRef" || key === "$id") {
        farthest = "anything"
      } else visit(item)
    }
  }
  visit(schema)
  // Definitions may refer anywhere themselves; from inside `$defs` that is still the same root.
  return farthest
}

function max(left: Reach, right: Reach): Reach {
  return left === "nothing" ? right : left
}

const places = new WeakMap<JsonSchema, Map<object, string>>()

/** The JSON pointers, as URI fragments, of everything inside a schema. */
function placesOf(root: JsonSchema): Map<object, string> {
  const known = places.get(root)
  if (known !== undefined) return known
  const found = new Map<object, string>()
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== "object" || value === null || found.has(value)) return
    found.set(value, pointer)
    for (const [key, item] of Object.entries(value)) {
      visit(item, `${pointer}/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`)
    }
  }
  visit(root, "")
  places.set(root, found)
  return found
}
