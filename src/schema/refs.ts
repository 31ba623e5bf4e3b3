import type { DefinitionSource } from "./trusted-schemas.ts"
import { ANY_TOKEN, type Moves } from "./dialect.ts"
import { isRecord } from "../internal/guards.ts"
import { getOwn, isSchema, pointerTokens } from "./json.ts"
import { eachSubschema, keywordsWhere } from "./keywords.ts"

/** A schema as it lies in a tree: an object, or one of the two booleans. */
export type SchemaNode = Record<string, unknown> | boolean

/** The keywords that name another schema. */
export type RefKeyword = "$ref" | "$dynamicRef"

/** A schema with a URI of its own, in which pointers and anchors are looked up. */
export interface Resource {
  readonly uri: string
  readonly root: SchemaNode
  readonly anchors: Map<string, Record<string, unknown>>
  readonly dynamicAnchors: Map<string, Record<string, unknown>>
}

/** A place that refers to another schema. */
export interface RefSite {
  readonly node: Record<string, unknown>
  readonly keyword: RefKeyword
  readonly resource: Resource
}

/** Where a reference leads. */
export interface RefTarget {
  readonly value: unknown
  readonly resource: Resource
  /** The object or list that holds the value, and under which key; absent for the root of a resource. */
  readonly holder?: { readonly parent: Record<string, unknown>; readonly key: string }
  /** The new pointer, if lowering moved a part of the path. */
  readonly moved?: readonly string[]
}

/** What a schema without `$id` is resolved against; relative references need a base with a path. */
export const ROOT_URI = "json-schema:///"

/** Values of these keywords are data even when they look like a schema. */
const DATA_KEYWORDS = keywordsWhere(({ form }) => form === "data" || form === "values")

/** The resources, anchors and references of one self-contained schema. */
export class SchemaIndex {
  readonly resources: Map<string, Resource> = new Map()
  readonly resourceOf: Map<object, Resource> = new Map()
  readonly sites: RefSite[] = []

  /** Adds a tree of schemas. Without a parent, or with an `$id`, it is a resource of its own. */
  add(node: SchemaNode, base: string, parent?: Resource): Resource {
    const resource = this.#enter(node, base, parent)
    if (typeof node === "boolean" || this.resourceOf.has(node)) return resource
    this.resourceOf.set(node, resource)
    this.#anchors(node, resource)
    for (const keyword of ["$ref", "$dynamicRef"] as const) {
      if (typeof node[keyword] === "string") this.sites.push({ node, keyword, resource })
    }
    eachSubschema(node, (subschema) => this.add(subschema, resource.uri, resource))
    return resource
  }

  /** Resolves a reference among the known resources. */
  resolve(
    text: string,
    base: string,
    resourceAt: (uri: string) => Resource | undefined = (uri) => this.resources.get(uri),
    moves?: ReadonlyMap<object, Moves>,
  ): RefTarget | undefined {
    const { uri, fragment } = splitReference(text, base)
    const resource = resourceAt(uri)
    if (resource === undefined || fragment === undefined) return undefined
    if (fragment === "") return { value: resource.root, resource }
    const tokens = pointerTokens(fragment)
    if (tokens !== undefined) return this.#follow(resource, tokens, moves)
    const anchor = resource.anchors.get(fragment) ?? resource.dynamicAnchors.get(fragment)
    return anchor === undefined ? undefined : { value: anchor, resource }
  }

  #enter(node: SchemaNode, base: string, parent: Resource | undefined): Resource {
    const id = typeof node === "boolean" ? undefined : node["$id"]
    if (parent !== undefined && typeof id !== "string") return parent
    const uri = typeof id === "string" ? splitReference(id, base).uri : base
    const resource: Resource = {
      uri,
      root: node,
      anchors: new Map(),
      dynamicAnchors: new Map(),
    }
    if (!this.resources.has(uri)) this.resources.set(uri, resource)
    return resource
  }

  #anchors(node: Record<string, unknown>, resource: Resource): void {
    const { $anchor, $dynamicAnchor } = node
    if (typeof $anchor === "string" && !resource.anchors.has($anchor)) {
      resource.anchors.set($anchor, node)
    }
    if (typeof $dynamicAnchor === "string" && !resource.dynamicAnchors.has($dynamicAnchor)) {
      resource.dynamicAnchors.set($dynamicAnchor, node)
    }
  }

  #follow(
    start: Resource,
    tokens: readonly string[],
    moves: ReadonlyMap<object, Moves> | undefined,
  ): RefTarget | undefined {
    let resource = start
    let value: unknown = start.root
    let holder: RefTarget["holder"]
    let moved = false
    const path: string[] = []
    const rest = tokens.toReversed()
    for (let token = rest.pop(); token !== undefined; token = rest.pop()) {
      if (typeof value !== "object" || value === null) return undefined
      const replacement = moveOf(moves?.get(value), token)
      if (replacement !== undefined) {
        moved = true
        const [first = "", ...others] = replacement
        rest.push(...others.toReversed())
        token = first
      }
      if (DATA_KEYWORDS.has(token) && this.resourceOf.has(value)) return undefined
      holder = { parent: value as Record<string, unknown>, key: token }
      value = getOwn(value, token)
      path.push(token)
      if (isRecord(value)) resource = this.resourceOf.get(value) ?? resource
    }
    if (value === undefined || holder === undefined) return undefined
    return { value, resource, holder, ...(moved && { moved: path }) }
  }
}

/** The references of an admitted schema, each with the schema it leads to. */
export class Links {
  readonly root: SchemaNode
  readonly #targets = new Map<string, Map<object, SchemaNode>>()
  readonly #definitions: DefinitionSource | undefined
  #index: SchemaIndex | undefined

  /** With `definitions`, those of an adopted schema are read one by one, when something refers to them. */
  constructor(root: SchemaNode, definitions?: DefinitionSource) {
    this.root = root
    this.#definitions = definitions
  }

  /** Built when it is first needed. */
  get index(): SchemaIndex {
    if (this.#index === undefined) {
      this.#index = new SchemaIndex()
      const isWhole = this.#definitions === undefined
      this.#index.add(isWhole ? this.root : withoutDefinitions(this.root), ROOT_URI)
    }
    return this.#index
  }

  /** Whether any schema here uses `unevaluatedProperties` or `unevaluatedItems`. */
  get usesUnevaluated(): boolean {
    if (this.#definitions !== undefined) return true
    for (const node of this.index.resourceOf.keys()) {
      if ("unevaluatedProperties" in node || "unevaluatedItems" in node) return true
    }
    return false
  }

  /** The target of a `$ref`, or of a `$dynamicRef` that is not overridden; one that accepts anything if there is none. */
  target(node: Readonly<Record<string, unknown>>, keyword: RefKeyword): SchemaNode {
    return this.#find(node, keyword) ?? true
  }

  /**
   * The schemas that a schema refers to; `undefined` if one of them is uncertain: it does not exist, or depends on how
   * the schema was entered (`$dynamicRef` with several anchors).
   */
  certain(node: Readonly<Record<string, unknown>>): readonly SchemaNode[] | undefined {
    const targets: SchemaNode[] = []
    if (node["$recursiveRef"] !== undefined) return undefined
    for (const keyword of ["$ref", "$dynamicRef"] as const) {
      if (node[keyword] === undefined) continue
      const target = this.#certain(node, keyword)
      if (!isSchema(target)) return undefined
      targets.push(target)
    }
    return targets
  }

  #certain(node: Readonly<Record<string, unknown>>, keyword: RefKeyword): unknown {
    // All references of an adopted schema lead to its definitions: nothing has to be indexed.
    if (this.#definitions !== undefined) return this.#definition(String(node[keyword]))
    const isOverridable = keyword === "$dynamicRef" && this.dynamicName(node) !== undefined
    return isOverridable ? undefined : this.#find(node, keyword)
  }

  #definition(reference: string): unknown {
    return this.#definitions?.get(reference.slice("#/$defs/".length))
  }

  #find(node: Readonly<Record<string, unknown>>, keyword: RefKeyword): SchemaNode | undefined {
    let targets = this.#targets.get(keyword)
    if (targets === undefined) this.#targets.set(keyword, (targets = new Map()))
    const cached = targets.get(node)
    if (cached !== undefined) return cached
    const base = this.index.resourceOf.get(node)?.uri ?? ROOT_URI
    const resolved = this.#resolve(String(node[keyword]), base)
    if (!isSchema(resolved?.value)) return undefined
    const { value, resource } = resolved
    // A schema under an unknown keyword is recognised only because something refers to it.
    if (typeof value !== "boolean") this.index.add(value, resource.uri, resource)
    targets.set(node, value)
    return value
  }

  #resolve(ref: string, base: string): RefTarget | undefined {
    if (this.#definitions === undefined) return this.index.resolve(ref, base)
    return { value: this.#definition(ref), resource: this.index.resources.get(ROOT_URI)! }
  }

  /** The name under which a `$dynamicRef` can be overridden; `undefined` if it cannot. */
  dynamicName(node: Readonly<Record<string, unknown>>): string | undefined {
    const target = this.target(node, "$dynamicRef")
    const name = typeof target === "boolean" ? undefined : target["$dynamicAnchor"]
    if (typeof name !== "string" || !String(node["$dynamicRef"]).endsWith(`#${name}`)) {
      return undefined
    }
    let holders = 0
    for (const resource of this.index.resources.values()) {
      if (resource.dynamicAnchors.has(name)) holders++
    }
    return holders > 1 ? name : undefined
  }
}

function withoutDefinitions(root: SchemaNode): SchemaNode {
  if (typeof root === "boolean") return root
  const members = Object.keys(root).filter((keyword) => keyword !== "$defs")
  return Object.fromEntries(members.map((keyword) => [keyword, root[keyword]]))
}

/** Resolves a reference against a base and splits off its fragment; `fragment` is `undefined` if undecodable. */
export function splitReference(
  text: string,
  base: string,
): { uri: string; fragment: string | undefined } {
  const hash = text.indexOf("#")
  const address = hash < 0 ? text : text.slice(0, hash)
  return {
    uri: address === "" ? base : resolveUri(address, base),
    fragment: hash < 0 ? "" : decode(text.slice(hash + 1)),
  }
}

function resolveUri(address: string, base: string): string {
  try {
    return new URL(address, base).href
  } catch {
    // A URN has no path to resolve against: the name takes the place of its last part.
    return `${base.slice(0, base.lastIndexOf(":"))}:${address}`
  }
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

function moveOf(moves: Moves | undefined, token: string): readonly string[] | undefined {
  const own = moves?.get(token)
  if (own !== undefined) return own
  const any = moves?.get(ANY_TOKEN)
  return any === undefined ? undefined : [...any, token]
}
