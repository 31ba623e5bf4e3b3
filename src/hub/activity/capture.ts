import { isRecord } from "../../internal/guards.ts"
import { setOwn } from "../../internal/own.ts"
import { redact } from "../../internal/redact.ts"
import { isSecretField } from "../../internal/secret-names.ts"
import { weigh } from "../../internal/weigh.ts"
import { childPointer } from "../../schema/json.ts"
import { viewOf, type SchemaView } from "../../schema/read/view.ts"

/** A copy of a value that may be shown: JSON of bounded size, without what looks like a secret. */
export interface Captured {
  /** `undefined` for no value, and for one that was not kept. */
  readonly json: string | undefined
  /** Pointers of what was left out or masked. */
  readonly removed: readonly string[]
  /** It has more than the allowed characters, or could not be read. */
  readonly isOmitted: boolean
}

const NOTHING: Captured = { json: undefined, removed: [], isOmitted: false }
const OMITTED: Captured = { json: undefined, removed: [], isOmitted: true }

/** Copies a value. Never throws; the time it takes is bounded, whatever the value is. */
export function capture(value: unknown, schemaOf: () => unknown, maxCharacters: number): Captured {
  if (value === undefined) return NOTHING
  try {
    if (weigh(value, maxCharacters) >= maxCharacters) return OMITTED
    const removed: string[] = []
    const json = JSON.stringify(withoutSecrets(redact(value), viewOf(schemaOf()), "", removed))
    return json.length > maxCharacters ? OMITTED : { json, removed, isOmitted: false }
  } catch {
    // A getter or a Proxy of a caller in this process threw, or a schema cannot be made.
    return OMITTED
  }
}

/** Leaves out members that are secret by their name or schema. */
function withoutSecrets(
  value: unknown,
  view: SchemaView,
  pointer: string,
  removed: string[],
): unknown {
  if (typeof value === "string") {
    if (value.includes("***")) removed.push(pointer)
    return value
  }
  if (Array.isArray(value)) {
    const same = view.isTuple ? undefined : view.item(0)
    return value.map((item, at) =>
      withoutSecrets(item, same ?? view.item(at), childPointer(pointer, at), removed),
    )
  }
  if (!isRecord(value)) return value
  const kept = {}
  for (const [key, item] of Object.entries(value)) {
    const place = childPointer(pointer, key)
    const below = view.property(key)
    if (isSecretField(key, item) || isSecret(below)) removed.push(place)
    else setOwn(kept, key, withoutSecrets(item, below, place, removed))
  }
  return kept
}

function isSecret(view: SchemaView): boolean {
  return view.first("writeOnly") === true || view.text("format") === "password"
}
