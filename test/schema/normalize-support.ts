import { Compile } from "typebox/schema"
import { deepFreeze, setOwn } from "../../src/schema/json.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import { Normalizer } from "../../src/schema/normalize/index.ts"
import type { NormalizerOptions } from "../../src/schema/normalize/model.ts"

export type Changes = Partial<Omit<NormalizerOptions, "check">>

/** A normaliser, and what its probe answers. */
interface ProbedNormalizer extends Pick<Normalizer, "isNoop" | "probe" | "normalize"> {
  readonly hasProbe: boolean
  /** Whether a valid value needs no change; false if there is no probe. */
  isClean(value: unknown): boolean
}

/** A normaliser with all changes enabled by default. */
export function normalizerOf(schema: JsonSchema, options: Changes = {}): ProbedNormalizer {
  deepFreeze(schema)
  const normalizer = new Normalizer(schema, {
    strip: true,
    defaults: true,
    convert: true,
    ...options,
    check: (part) => checkOf(part, schema),
  })
  return {
    get isNoop() {
      return normalizer.isNoop
    },
    get hasProbe() {
      return normalizer.probe() !== null
    },
    isClean: (value) => isClean(normalizer, value),
    probe: () => normalizer.probe(),
    normalize: (value) => normalizer.normalize(value),
  }
}

/** As callers use the probe: where it throws, the normaliser decides. */
export function isClean(
  normalizer: Pick<Normalizer, "probe" | "normalize">,
  value: unknown,
): boolean {
  const probe = normalizer.probe()
  if (probe === null) return false
  try {
    return probe(value)
  } catch {
    return Object.is(normalizer.normalize(value).value, value)
  }
}

/** What becomes of a value; the value itself is frozen, so that a change to it throws. */
export function normalize(schema: JsonSchema, value: unknown, options?: Changes): unknown {
  deepFreeze(value)
  return normalizerOf(schema, options).normalize(value).value
}

/** Kinds and paths of what was done to a value. */
export function changesOf(schema: JsonSchema, value: unknown, options?: Changes): string[] {
  const { changes } = normalizerOf(schema, options).normalize(value)
  return changes.map(({ kind, path }) => `${kind} ${path}`)
}

/** A check of a part of `root`, in which references mean what they mean in the whole. */
export function checkOf(
  schema: JsonSchema | boolean,
  root: JsonSchema,
): (value: unknown) => boolean {
  if (typeof schema === "boolean") return () => schema
  if (schema === root) {
    const whole = Compile(root)
    return (value) => whole.Check(value)
  }
  if (namesResource(Object.values(root))) {
    const id = typeof root["$id"] === "string" ? root["$id"].split("#")[0]! : "urn:root"
    const pointer = pointerTo(root, schema, new Set())
    if (pointer === undefined) throw new Error("Not a part of this schema.")
    const $ref = `${id}#${pointer.map(pointerToken).join("")}`
    const part = Compile({ $defs: { root: { ...root, $id: id } }, $ref })
    return (value) => part.Check(value)
  }
  const { $id: _, ...whole } = moveRefs(root) as JsonSchema
  const part = Compile({ $defs: { root: whole }, allOf: [moveRefs(schema)] } as JsonSchema)
  return (value) => part.Check(value)
}

function namesResource(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  return (
    typeof (value as JsonSchema)["$id"] === "string" || Object.values(value).some(namesResource)
  )
}

function pointerToken(token: string): string {
  return `/${encodeURIComponent(token.replaceAll("~", "~0").replaceAll("/", "~1"))}`
}

/** Points references into the whole at `#/$defs/root`. */
function moveRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveRefs)
  if (typeof value !== "object" || value === null) return value
  const copy = {}
  for (const [key, child] of Object.entries(value)) {
    const isRef = /^\$(dynamicR|r)ef$/.test(key) && typeof child === "string"
    setOwn(copy, key, isRef ? child.replace(/^#(?=\/|$)/, "#/$defs/root") : moveRefs(child))
  }
  return copy
}

function pointerTo(from: unknown, wanted: object, seen: Set<object>): string[] | undefined {
  if (from === wanted) return []
  if (typeof from !== "object" || from === null || seen.has(from)) return undefined
  seen.add(from)
  for (const [key, child] of Object.entries(from)) {
    const rest = pointerTo(child, wanted, seen)
    if (rest !== undefined) return [key, ...rest]
  }
  return undefined
}
