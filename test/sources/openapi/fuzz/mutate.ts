// Changes to a document that aim at what an importer looks at.
import { alien, deep, junk, NAMES, PATTERNS, polluting } from "./junk.ts"
import type { Random } from "./random.ts"

type Box = Record<string, unknown>

/** A place in a document: what holds it, and under which key. */
interface Slot {
  readonly holder: Box
  readonly key: string
  readonly pointer: string
  /** The place of the holder; none for the document itself. */
  readonly parent: Slot | undefined
}

const METHODS = [
  ...["get", "post", "put", "patch", "delete", "head", "options", "trace", "query"],
  ...[
    "GET",
    "connect",
    "x-get",
    "__proto__",
    "foo bar",
    "additionalOperations",
    "parameters",
    "$ref",
  ],
]
const STATUS = [
  ...["200", "201", "204", "2XX", "2xx", "default", "404", "4XX", "500", "302", "101"],
  ...["999", "20", "abc", "-1", "200.0", "__proto__", ""],
]
const MEDIA = [
  ...["application/json", "application/problem+json", "application/json; charset=utf-8", "*/*"],
  ...[
    "text/event-stream",
    "application/x-ndjson",
    "application/json-seq",
    "text/plain",
    "text/xml",
  ],
  ...["application/x-www-form-urlencoded", "multipart/form-data", "multipart/mixed", "image/png"],
  ...["application/octet-stream", "", "a/b/c", "json", "application/json\r\nX: y", "__proto__"],
]
const PATHS = [
  ...[
    "/",
    "",
    "a",
    "//evil.test/x",
    "/../x",
    "/%2e%2e/x",
    "/{a}/{b}",
    "/{a}{b}",
    "/{a",
    "/a}",
    "/{}",
  ],
  ...[
    "/x?y={z}",
    "/x#y",
    String.raw`/\x`,
    "/{a}.json",
    "/{a}...{b}",
    "/a b",
    "/\r\n",
    "/{__proto__}",
  ],
  ...[
    "/\ud800",
    `/${"x/".repeat(2000)}`,
    "/{a}/{a}",
    "x-path",
    "https://evil.test/",
    "/{a:.*}",
    "/*",
  ],
]
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  in: ["path", "query", "header", "cookie", "body", "formData", "querystring", "__proto__", 1],
  style: [
    "simple",
    "label",
    "matrix",
    "form",
    "spaceDelimited",
    "pipeDelimited",
    "deepObject",
    "x",
  ],
  type: [
    "string",
    "number",
    "integer",
    "boolean",
    "object",
    "array",
    "null",
    "file",
    "any",
    ["string", "null"],
    [],
  ],
  format: ["binary", "byte", "date-time", "int64", "uuid", "__proto__", 1],
  collectionFormat: ["csv", "ssv", "tsv", "pipes", "multi", "x"],
  explode: [true, false, "true", null],
  required: [true, false, ["a"], ["__proto__", 1, null], [["a"]], "a"],
  nullable: [true, false, "true"],
  readOnly: [true, false, "true"],
  writeOnly: [true, false, 1],
  openapi: ["3.0.0", "3.1.0", "3.2.0", "3.9.1", "4.0.0", 3.1, null, "2.0", {}],
  swagger: ["2.0", 2, "1.2", null, {}],
  scheme: ["basic", "bearer", "digest", "x y", 1],
  url: [
    "/",
    "",
    "https://evil.test/v1",
    "http://localhost",
    "{x}",
    "https://{host}/a",
    "//evil.test",
    "ftp://x",
    1,
  ],
  operationId: [
    "a",
    "a",
    "",
    " ",
    "../../x",
    "__proto__",
    "a.b.c",
    "字",
    "x".repeat(5000),
    7,
    null,
  ],
  name: NAMES,
  pattern: PATTERNS,
  minimum: [0, -5, 1e300, "1", null],
  multipleOf: [0, -1, 1e-20, "x"],
  minLength: [-1, 1e9, 1.5, "x"],
  minItems: [-1, 1e9, 1.5],
  exclusiveMinimum: [true, false, 1],
  additionalProperties: [true, false, {}, null, 1],
  deprecated: [true, "yes"],
  security: [[], [{}], [{ a: [] }], [{ __proto__: null }], "x", [null]],
}

/** What was done to a document, and whether it is JSON still. */
export interface Mutation {
  readonly steps: readonly string[]
  readonly isJson: boolean
}

/** Changes a document in place, in up to four ways. */
export function mutate(document: Box, random: Random): Mutation {
  const steps: string[] = []
  let isJson = true
  const count = 1 + random.below(random.once(4) ? 4 : 2)
  for (let step = 0; step < count; step++) {
    const slots = slotsOf(document)
    if (slots.length === 0) break
    const change = random.once(30) ? invade : random.pick(CHANGES)
    if (change === invade) isJson = false
    const slot = choose(slots, random)
    change(slot, slots, random, document)
    steps.push(`${change.name} ${slot.pointer.slice(0, 200)}`)
  }
  return { steps, isJson }
}

/** Changes data of any kind in place, in up to four ways that know nothing of what it means. */
export function mutateData(data: Box, random: Random): void {
  for (let count = 1 + random.below(4); count > 0; count--) {
    const slots = slotsOf(data)
    if (slots.length === 0) return
    random.pick(PLAIN_CHANGES)(random.pick(slots), slots, random, data)
  }
}

type Change = (slot: Slot, slots: readonly Slot[], random: Random, document: Box) => void

const CHANGES: readonly Change[] = [
  remove,
  replace,
  replace,
  retype,
  retype,
  duplicate,
  swap,
  graft,
  rename,
  renameKind,
  renameKind,
  refer,
  refer,
  cycle,
  burden,
  nest,
  pollute,
  insert,
]

const PLAIN_CHANGES: readonly Change[] = [
  ...[remove, replace, replace, replace, duplicate, swap, graft, rename, nest, pollute],
]

function remove({ holder, key }: Slot): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else delete holder[key]
}

function replace({ holder, key }: Slot, _: readonly Slot[], random: Random): void {
  put(holder, key, junk(random))
}

/** Gives a keyword another value that it may have somewhere. */
function retype(slot: Slot, slots: readonly Slot[], random: Random): void {
  const known = slots.filter(({ key }) => Object.hasOwn(WORDS, key))
  const { holder, key } = known.length === 0 ? slot : random.pick(known)
  put(holder, key, random.pick(WORDS[key] ?? [null]))
}

function duplicate({ holder, key }: Slot, _: readonly Slot[], random: Random): void {
  const copy = clone(holder[key])
  if (Array.isArray(holder)) holder.splice(Number(key), 0, copy)
  else put(holder, random.once(2) ? `${key}_2` : random.pick(NAMES), copy)
}

function swap({ holder, key }: Slot, slots: readonly Slot[], random: Random): void {
  const other = choose(slots, random)
  const value = clone(holder[key])
  put(holder, key, clone(other.holder[other.key]))
  put(other.holder, other.key, value)
}

/** Puts a copy of one part where another is. */
function graft({ holder, key }: Slot, slots: readonly Slot[], random: Random): void {
  const other = choose(slots, random)
  put(holder, key, clone(other.holder[other.key]))
}

function rename({ holder, key }: Slot, _: readonly Slot[], random: Random): void {
  renameKey(holder, key, random.pick(NAMES))
}

/** Gives a path, a method, a status or a media type another name of its kind. */
function renameKind(slot: Slot, slots: readonly Slot[], random: Random): void {
  const [isKind, names] = random.pick([
    [({ parent }: Slot) => isPaths(parent), PATHS],
    [({ parent }: Slot) => parent?.key !== "" && isPaths(parent?.parent), METHODS],
    [({ parent }: Slot) => parent?.key === "responses", STATUS],
    [({ parent }: Slot) => parent?.key === "content", MEDIA],
  ] as const)
  const known = slots.filter((one) => one.key !== "" && isKind(one))
  const { holder, key } = known.length === 0 ? slot : random.pick(known)
  renameKey(holder, key, random.pick(names))
}

function isPaths(slot: Slot | undefined): boolean {
  return slot?.key === "paths" && slot.parent === undefined
}

/** Puts a reference somewhere, or leads one elsewhere. */
function refer(slot: Slot, slots: readonly Slot[], random: Random): void {
  const refs = slots.filter(({ key }) => key === "$ref")
  const target = random.pick([
    random.pick(slots).pointer,
    random.pick(slots).pointer,
    slot.pointer,
    slot.pointer.replace(/\/[^/]*$/, ""),
    "",
    "/__proto__",
    "/constructor/prototype",
    "/nowhere",
    "/paths/%zz",
    "/components/schemas/~2",
  ])
  const ref = random.pick([
    ...[
      `#${target}`,
      `#${target}`,
      `#${target}`,
      `#${encodeURI(wellFormed(target))}`,
      "#anchor",
      "#",
    ],
    ...["other.yaml#/a", "https://evil.test/x.json", "file:///etc/passwd", "", "?", "http://[", 7],
  ])
  if (refs.length > 0 && random.once(2)) {
    put(random.pick(refs).holder, "$ref", ref)
    return
  }
  put(slot.holder, slot.key, random.once(4) ? { ...beside(slot), $ref: ref } : { $ref: ref })
}

/** Schemas, or whatever else, that lead back to themselves. */
function cycle({ holder, key, pointer }: Slot, slots: readonly Slot[], random: Random): void {
  const schemas = slots.filter(
    ({ key: name, parent }) =>
      name !== "" &&
      (parent?.key === "definitions" ||
        (parent?.key === "schemas" && parent.parent?.key === "components")),
  )
  if (schemas.length === 0) {
    put(holder, key, { $ref: `#${pointer}` })
    return
  }
  const first = random.pick(schemas)
  const second = random.pick(schemas)
  const ways: readonly ((pointer: string) => unknown)[] = [
    (ref) => ({ $ref: `#${ref}` }),
    (ref) => ({ allOf: [{ $ref: `#${ref}` }] }),
    (ref) => ({ anyOf: [{ $ref: `#${ref}` }, { type: "null" }] }),
    (ref) => ({ not: { $ref: `#${ref}` } }),
    (ref) => ({ type: "array", items: { $ref: `#${ref}` } }),
    (ref) => ({ type: "object", properties: { self: { $ref: `#${ref}` } }, required: ["self"] }),
    (ref) => ({ oneOf: [{ allOf: [{ oneOf: [{ $ref: `#${ref}` }] }] }] }),
  ]
  put(first.holder, first.key, random.pick(ways)(second.pointer))
  put(second.holder, second.key, random.pick(ways)(first.pointer))
}

/** What only a program can put into a document; a cycle then needs no reference. */
function invade({ holder, key }: Slot, _: readonly Slot[], random: Random, document: Box): void {
  put(holder, key, random.once(6) ? random.pick([document, holder]) : alien(random))
}

/** Much of something. */
function burden({ holder, key }: Slot, _: readonly Slot[], random: Random): void {
  const many = random.pick([300, 3000])
  const list = <TItem>(make: (index: number) => TItem): TItem[] =>
    Array.from({ length: many }, (__, index) => make(index))
  put(
    holder,
    key,
    random.pick<() => unknown>([
      () => ({ enum: list((index) => `value ${index}`) }),
      () => ({
        type: "object",
        properties: Object.fromEntries(list((index) => [`p${index}`, { type: "string" }])),
      }),
      () => ({ allOf: list(() => ({ type: "object", properties: { a: {} }, required: ["a"] })) }),
      () => ({ anyOf: list((index) => ({ const: index })) }),
      () => ({ type: "string", pattern: random.pick(PATTERNS) }),
      () => list((index) => ({ name: `p${index % 7}`, in: "query", schema: { type: "array" } })),
      () => ({ required: list((index) => `r${index}`) }),
    ])(),
  )
}

function nest({ holder, key }: Slot, _: readonly Slot[], random: Random): void {
  put(holder, key, deep(random))
}

function pollute({ holder, key }: Slot): void {
  const value = holder[key]
  const keys = polluting() as Box
  if (typeof value !== "object" || value === null || Array.isArray(value)) put(holder, key, keys)
  else for (const name of Object.keys(keys)) put(value as Box, name, keys[name])
}

/** Adds a keyword where it has no business. */
function insert({ holder, key }: Slot, _: readonly Slot[], random: Random): void {
  const value = holder[key]
  if (typeof value !== "object" || value === null || Array.isArray(value)) return
  const word = random.pick(Object.keys(WORDS))
  put(value as Box, word, random.pick(WORDS[word] ?? [null]))
}

/** Half of the time any place, else one whose key tells the importer something. */
function choose(slots: readonly Slot[], random: Random): Slot {
  if (random.once(2)) return random.pick(slots)
  const kinds = [...new Set(slots.map(({ key }) => key))].filter((key) => TELLING.has(key))
  if (kinds.length === 0) return random.pick(slots)
  const kind = random.pick(kinds)
  return random.pick(slots.filter(({ key }) => key === kind))
}

const TELLING: ReadonlySet<string> = new Set([
  ...[
    "$ref",
    "schema",
    "schemas",
    "parameters",
    "in",
    "name",
    "style",
    "explode",
    "content",
    "pattern",
  ],
  ...[
    "responses",
    "requestBody",
    "servers",
    "url",
    "variables",
    "security",
    "securitySchemes",
    "required",
  ],
  ...[
    "enum",
    "type",
    "allOf",
    "anyOf",
    "oneOf",
    "items",
    "properties",
    "additionalProperties",
    "format",
  ],
  ...[
    "paths",
    "components",
    "definitions",
    "tags",
    "summary",
    "operationId",
    "consumes",
    "produces",
  ],
  ...[
    "encoding",
    "headers",
    "examples",
    "example",
    "default",
    "discriminator",
    "info",
    "version",
    "openapi",
  ],
  ...[
    "get",
    "post",
    "put",
    "delete",
    "patch",
    "itemSchema",
    "flows",
    "scopes",
    "description",
    "deprecated",
  ],
])

/** All places of a document; shared and cyclic parts once. */
function slotsOf(root: Box): Slot[] {
  const slots: Slot[] = []
  const seen = new Set<unknown>()
  const todo: Array<readonly [Box, Slot | undefined]> = [[root, undefined]]
  for (const [holder, parent] of todo) {
    if (seen.has(holder) || slots.length > 20_000) continue
    seen.add(holder)
    for (const key of Object.keys(holder)) {
      const token = key.replaceAll("~", "~0").replaceAll("/", "~1")
      const slot = { holder, key, pointer: `${parent?.pointer ?? ""}/${token}`, parent }
      slots.push(slot)
      const value = holder[key]
      const isPlain = typeof value === "object" && value !== null && !ArrayBuffer.isView(value)
      if (isPlain) todo.push([value as Box, slot])
    }
  }
  return slots
}

/** Defines, so that `__proto__` is a key like any other. */
function put(holder: Box, key: string, value: unknown): void {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

/** In place of the old one, so that the order stays. */
function renameKey(holder: Box, from: string, to: string): void {
  if (Array.isArray(holder)) return
  const entries = Object.entries(holder)
  for (const [key] of entries) delete holder[key]
  for (const [key, value] of entries) put(holder, key === from ? to : key, value)
}

function beside({ holder, key }: Slot): Box {
  const value = holder[key]
  return typeof value === "object" && value !== null ? { ...(value as Box) } : {}
}

function clone(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    // Functions and symbols cannot be cloned, and need not be.
    return value
  }
}

function wellFormed(text: string): string {
  return text.replaceAll(/[\ud800-\udfff]/g, "?")
}
