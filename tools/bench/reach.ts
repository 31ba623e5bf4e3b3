import ts from "typescript-6.0"
import { viewOf, type SchemaView } from "../../src/schema/read/view.ts"

/** Longer paths are not looked at: schemas can be recursive. */
const MAX_DEPTH = 6

/** A member that its object requires. */
export interface RequiredMember {
  readonly path: readonly string[]
  /** Every input needs it; others belong to a part that can be left out. */
  readonly isNeeded: boolean
}

/** The required members of an input, also of its optional parts. */
export function requiredMembers(schema: unknown): readonly RequiredMember[] {
  const found: RequiredMember[] = []
  const walk = (view: SchemaView, path: readonly string[], isNeeded: boolean): void => {
    if (path.length >= MAX_DEPTH) return
    const { required } = view
    for (const name of view.names) {
      const isRequired = required.includes(name)
      const inner = view.property(name)
      if (!isRequired && inner.first("readOnly") === true) continue
      const member = { path: [...path, name], isNeeded: isNeeded && isRequired }
      if (isRequired) found.push(member)
      walk(itemOf(inner), member.path, member.isNeeded)
    }
  }
  walk(viewOf(schema), [], true)
  return found
}

function itemOf(view: SchemaView): SchemaView {
  return view.types.has("array") ? itemOf(view.item(0)) : view
}

/** TypeScript declarations as a model reads them. */
export class Declarations {
  readonly #types = new Map<string, ts.TypeNode>()

  constructor(text: string) {
    const file = ts.createSourceFile("types.ts", text, ts.ScriptTarget.Latest)
    for (const statement of file.statements) {
      if (ts.isTypeAliasDeclaration(statement)) {
        this.#types.set(statement.name.text, statement.type)
      }
    }
  }

  /** How many names of a path are shown from a declaration on. */
  shown(root: string, path: readonly string[]): number {
    const node = this.#types.get(root)
    return node === undefined ? 0 : this.#follow(node, path)
  }

  #follow(node: ts.TypeNode, path: readonly string[]): number {
    const [name, ...rest] = path
    if (name === undefined) return 0
    if (ts.isParenthesizedTypeNode(node) || ts.isTypeOperatorNode(node)) {
      return this.#follow(node.type, path)
    }
    if (ts.isArrayTypeNode(node)) return this.#follow(node.elementType, path)
    if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) {
      return Math.max(...node.types.map((one) => this.#follow(one, path)))
    }
    if (ts.isTypeReferenceNode(node)) {
      const declared = ts.isIdentifier(node.typeName)
        ? this.#types.get(node.typeName.text)
        : undefined
      return declared === undefined ? 0 : this.#follow(declared, path)
    }
    if (!ts.isTypeLiteralNode(node)) return 0
    for (const member of node.members) {
      const isNamed = ts.isPropertySignature(member) && "text" in member.name
      if (isNamed && member.name.text === name && member.type !== undefined) {
        return 1 + this.#follow(member.type, rest)
      }
    }
    return 0
  }
}
