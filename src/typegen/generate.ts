// Declarations for operations: what `operations types` writes.

import { isImportedSpec } from "../core/define.ts"
import type { OperationSpec } from "../core/types.ts"
import { union } from "./combine.ts"
import { type CommentParts, printComment } from "./comments.ts"
import { Definitions } from "./definitions.ts"
import { Names, propertyKey, stringLiteral, typeName } from "./identifiers.ts"
import { type NamedType, NEVER, type TypeNode, UNDEFINED, type View } from "./model.ts"
import { nameTypes } from "./name-types.ts"
import { annotation, type PrintOptions, printType } from "./print.ts"
import { normalizeTypes } from "./normalize-types.ts"
import { SchemaTexts } from "./root.ts"

/** Options of `generateTypes`. */
export interface GenerateTypesOptions {
  /** Writes descriptions as comments; default: true. */
  readonly comments?: boolean | undefined
  /** The module whose `RegisteredOperations` and `RegisteredRoutes` the operations are added to. */
  readonly module?: string | undefined
}

const HEADER = `/* eslint-disable */
// Written by \`operations types\`: changes are lost when it runs again.
`

/**
 * Generates a module of TypeScript declarations: the interfaces `Routes`, with an object for each namespace, and
 * `Operations`, by id; the types that operations share, in one namespace per operation namespace; and an augmentation of
 * the library, which types every registry and client.
 *
 * The same operations give the same text, in any order.
 */
export function generateTypes(
  specs: readonly OperationSpec[],
  options: GenerateTypesOptions = {},
): string {
  const { comments = true, module = "@alkdev/operations" } = options
  const names = new Names()
  const texts = new SchemaTexts()
  const blocks: string[] = []
  const operations: Written[] = []
  for (const [namespace, members] of byNamespace(specs)) {
    const name = names.take(typeName(namespace))
    const written = printNamespace(name, members, texts, comments)
    if (written.types !== "") blocks.push(written.types)
    operations.push(...written.operations)
  }
  const ids = operations.map(({ spec, path }) => {
    const keys = path.map((key) => `[${stringLiteral(key)}]`).join("")
    return `  ${stringLiteral(`${spec.namespace}.${spec.name}`)}: Routes${keys}\n`
  })
  const text = [
    "/** Every operation, by namespace and name: what it takes, what it gives, and the errors it declares. */",
    `export interface Routes {\n${printRoutes(operations)}}`,
    "",
    "/** The same, by id. */",
    `export interface Operations {\n${ids.join("")}}`,
    "",
    `declare module ${stringLiteral(module)} {`,
    "  interface RegisteredOperations extends Operations {}",
    "  interface RegisteredRoutes extends Routes {}",
    "}",
    "",
    ...blocks,
  ].join("\n")
  const imports = [
    ...(text.includes("CallError<") ? [["CallError", module] as const] : []),
    ...(/\bFileLike\b/.test(text) ? [["FileLike", `${module}/type`] as const] : []),
  ].map(([name, from]) => `import type { ${name} } from ${stringLiteral(from)}\n`)
  return `${HEADER}\n${imports.join("")}${imports.length > 0 ? "\n" : ""}${text}`
}

/** Operations sorted by id; of two with the same id, the first. */
function byNamespace(specs: readonly OperationSpec[]): [string, OperationSpec[]][] {
  const namespaces = new Map<string, Map<string, OperationSpec>>()
  for (const spec of specs) {
    let members = namespaces.get(spec.namespace)
    if (members === undefined) namespaces.set(spec.namespace, (members = new Map()))
    if (!members.has(spec.name)) members.set(spec.name, spec)
  }
  return sorted(namespaces).map(([namespace, members]) => [
    namespace,
    sorted(members).map(([, spec]) => spec),
  ])
}

function sorted<TValue>(map: ReadonlyMap<string, TValue>): [string, TValue][] {
  return [...map].toSorted(([left], [right]) => (left < right ? -1 : 1))
}

/** Deepest nesting of objects, as in `createRegistry`. */
const MAX_DEPTH = 16

/** The keys that lead to an operation. It has no members: a name that begins with the name of another one is one key. */
function pathOf({ namespace, name }: OperationSpec, names: ReadonlySet<string>): Path {
  const parts = name.split(".")
  const last = parts.findIndex(
    (_, at) => at === MAX_DEPTH || names.has(parts.slice(0, at + 1).join(".")),
  )
  return [namespace, ...parts.slice(0, last), parts.slice(last).join(".")]
}

type Path = readonly [namespace: string, ...keys: string[]]

/** An operation to write. */
interface Written {
  readonly spec: OperationSpec
  readonly path: Path
  readonly print: (key: string, indent: string) => string
}

/** Writes operations as objects in objects. They are sorted, so that those of one object follow each other. */
function printRoutes(operations: readonly Written[]): string {
  const texts: string[] = []
  let open: readonly string[] = []
  const enter = (objects: readonly string[]): void => {
    let shared = 0
    while (shared < open.length && open[shared] === objects[shared]) shared++
    for (let depth = open.length; depth > shared; depth--) texts.push(`${"  ".repeat(depth)}}\n`)
    for (const [at, key] of objects.slice(shared).entries()) {
      texts.push(`${"  ".repeat(shared + at + 1)}${propertyKey(key)}: {\n`)
    }
    open = objects
  }
  for (const { path, print } of operations) {
    enter(path.slice(0, -1))
    texts.push(print(path.at(-1) ?? "", "  ".repeat(path.length)))
  }
  enter([])
  return texts.join("")
}

/** Writes the types that the operations of a namespace share. */
function printNamespace(
  name: string,
  specs: readonly OperationSpec[],
  texts: SchemaTexts,
  comments: boolean,
): { types: string; operations: Written[] } {
  const definitions = new Definitions(texts)
  const operations = specs.map((spec) => {
    const convert = (schema: unknown, kind: string, view: View): TypeNode =>
      definitions.convert(schema, `${spec.name} ${kind}`, view)
    const errors = (spec.errorSchemas ?? []).map(({ code, schema }): TypeNode => {
      const details = convert(schema, code, "output")
      // Many operations declare the same errors.
      const type = definitions.declare(`${code} Error`, "output", { kind: "error", code, details })
      return { kind: "named", type }
    })
    const output = convert(spec.outputSchema, "Output", "output")
    const input = convert(spec.inputSchema, "Input", isImportedSpec(spec) ? "given" : "filled")
    const members: TypeNode = { kind: "union", members: errors }
    return { spec, input, output, errors: errors.length === 0 ? NEVER : members }
  })
  const normalize = normalizeTypes(definitions.types)
  const { declarations, nameOf } = nameTypes(definitions.types)
  const inside = { nameOf, comments }
  const outside = { nameOf: (type: NamedType) => `${name}.${nameOf(type)}`, comments }
  const types = declarations.map((declared) => {
    const comment = comments ? printComment(declared.type.comment, "  ") : ""
    const body = annotation(printType(declared.type.body, "  ", inside))
    return `${comment}  type ${declared.name} =${body}\n`
  })
  const ids = new Set(specs.map((spec) => spec.name))
  const written = operations.map(({ spec, input, output, errors }): Written => {
    const given = omittable(normalize(input), isImportedSpec(spec))
    const members = { input: given, output: normalize(output), errors }
    return {
      spec,
      path: pathOf(spec, ids),
      print: (key, indent) => printOperation(spec, members, key, { ...outside, indent }),
    }
  })
  return {
    types: types.length === 0 ? "" : `export declare namespace ${name} {\n${types.join("\n")}}\n`,
    operations: written,
  }
}

function omittable(input: TypeNode, isOmittable: boolean): TypeNode {
  return isOmittable && admitsEmpty(input) ? union([input, UNDEFINED]) : input
}

function admitsEmpty(node: TypeNode): boolean {
  if (node.kind === "named") return node.type.body.kind !== "named" && admitsEmpty(node.type.body)
  return node.kind === "object" && node.properties.every(({ isOptional }) => isOptional)
}

function printOperation(
  spec: OperationSpec,
  types: Readonly<Record<"input" | "output" | "errors", TypeNode>>,
  key: string,
  { indent, ...options }: PrintOptions & { readonly indent: string },
): string {
  const members = Object.entries(types).map(
    ([name, type]) => `${indent}  ${name}:${annotation(printType(type, `${indent}  `, options))}\n`,
  )
  return [
    options.comments ? printComment(commentFor(spec), indent) : "",
    `${indent}${propertyKey(key)}: {\n`,
    `${indent}  type: ${stringLiteral(spec.type)}\n`,
    ...members,
    `${indent}}\n`,
  ].join("")
}

function commentFor({ title, description, deprecated }: OperationSpec): CommentParts {
  const texts = [title, description === title ? undefined : description]
  return {
    text: texts.filter((text) => typeof text === "string" && text.trim() !== "").join("\n\n"),
    isDeprecated: deprecated === true,
  }
}
