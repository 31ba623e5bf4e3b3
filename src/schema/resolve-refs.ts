import type { Lowering } from "./dialect.ts"
import { isRecord } from "../internal/guards.ts"
import { addToList } from "../internal/lists.ts"
import { childPointer, escapeToken, isSchema, setOwn } from "./json.ts"
import { eachSubschema, IN_PLACE } from "./keywords.ts"
import { ROOT_URI, SchemaIndex, splitReference } from "./refs.ts"
import type { RefKeyword, RefSite, RefTarget, Resource, SchemaNode } from "./refs.ts"

/** What resolving references needs from the admission it is part of. */
interface ReferenceWork extends Pick<Lowering, "report" | "sourcePaths" | "moves"> {
  /** A lowered document by its absolute URI; `undefined` when the caller did not supply it. */
  readonly load: (uri: string) => SchemaNode | undefined
  /** Lowers data that a reference names as a schema. */
  readonly lower: (data: Record<string, unknown>, path: string) => SchemaNode
}

/**
 * Makes a lowered schema self-contained: every reference resolves inside it, or is reported and removed.
 *
 * The compiler silently treats an unresolvable reference as "never valid", and overflows on one that leads back
 * to itself without a smaller value. Both are detected here.
 */
export function resolveReferences(root: Record<string, unknown>, work: ReferenceWork): void {
  const resolver = new ReferenceResolver(root, work)
  resolver.resolveAll()
  resolver.breakLoops()
}

class ReferenceResolver {
  readonly #root: Record<string, unknown>
  readonly #work: ReferenceWork
  readonly #index = new SchemaIndex()
  readonly #targets = new Map<
    Record<string, unknown>,
    Array<{ keyword: RefKeyword; target: SchemaNode }>
  >()

  constructor(root: Record<string, unknown>, work: ReferenceWork) {
    this.#root = root
    this.#work = work
    this.#index.add(root, ROOT_URI)
  }

  resolveAll(): void {
    // Embedded documents add references of their own to the end of the same list.
    for (let next = 0; next < this.#index.sites.length; next++) {
      this.#resolveSite(this.#index.sites[next] as RefSite)
    }
  }

  #resolveSite(site: RefSite): void {
    const text = String(site.node[site.keyword])
    const target = this.#index.resolve(
      text,
      site.resource.uri,
      (uri) => this.#index.resources.get(uri) ?? this.#embed(uri),
      this.#work.moves,
    )
    const schema = target === undefined ? undefined : this.#schemaAt(target)
    if (target === undefined || schema === undefined) {
      this.#drop(site.node, site.keyword, "unresolved-ref", unresolved(text))
      return
    }
    site.node[site.keyword] = this.#rewritten(text, site.resource.uri, target.moved)
    addToList(this.#targets, site.node, { keyword: site.keyword, target: schema })
  }

  /** The text of a reference; changed only if lowering moved its target, or its document has another `$id`. */
  #rewritten(text: string, base: string, moved: readonly string[] | undefined): string {
    const hash = text.indexOf("#")
    let address = hash < 0 ? text : text.slice(0, hash)
    let fragment = hash < 0 ? "" : text.slice(hash)
    if (address !== "") {
      const { uri } = splitReference(text, base)
      const home = this.#index.resources.get(uri)
      if (home !== undefined && home.uri !== uri) address = home.uri
      // TypeBox takes an empty fragment for the schema it starts from, whatever precedes it.
      if (fragment === "#") fragment = ""
    }
    if (moved !== undefined) fragment = `#${moved.map((token) => `/${encode(token)}`).join("")}`
    return `${address}${fragment}`
  }

  /** Embeds a document of the caller under `$defs`, with its absolute URI as `$id`. */
  #embed(uri: string): Resource | undefined {
    const loaded = this.#work.load(uri)
    if (loaded === undefined) return undefined
    const node: Record<string, unknown> =
      typeof loaded === "boolean" ? (loaded ? {} : { not: {} }) : loaded
    const declared = typeof node["$id"] === "string" ? node["$id"] : ""
    const id = URL.canParse(declared, uri) ? new URL(declared, uri).href : uri
    const existing = this.#index.resources.get(id)
    if (existing !== undefined) {
      this.#index.resources.set(uri, existing)
      return existing
    }
    node["$id"] = id
    if (!isRecord(this.#root["$defs"])) this.#root["$defs"] = {}
    const defs = this.#root["$defs"] as Record<string, unknown>
    let name = id
    for (let copy = 2; Object.hasOwn(defs, name); copy++) name = `${id} (${copy})`
    setOwn(defs, name, node)
    const resource = this.#index.add(node, uri)
    this.#index.resources.set(uri, resource)
    return resource
  }

  /** The schema at a target. Data under an unknown keyword becomes a schema if something refers to it. */
  #schemaAt(target: RefTarget): SchemaNode | undefined {
    const { value, holder, resource } = target
    if (!isSchema(value)) return undefined
    if (typeof value === "boolean" || this.#index.resourceOf.has(value)) return value
    if (holder === undefined) return undefined
    const at = childPointer(this.#work.sourcePaths.get(holder.parent) ?? "", holder.key)
    const lowered = this.#work.lower(value, at)
    setOwn(holder.parent, holder.key, lowered)
    this.#index.add(lowered, resource.uri, resource)
    return lowered
  }

  /**
   * Removes references that lead back to where they started while applying to the same value.
   *
   * A depth-first walk over the edges that stay on one value; its stack is written out because a chain of
   * references may be as long as the schema is large.
   */
  breakLoops(): void {
    const done = new Set<object>()
    for (const start of this.#targets.keys()) {
      const open = new Set<object>()
      const stack: Frame[] = []
      const enter = (node: Record<string, unknown>, via?: RefKeyword): void => {
        open.add(node)
        stack.push({ node, via, edges: this.#edges(node) })
      }
      if (!done.has(start)) enter(start)
      for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
        const edge = frame.edges.pop()
        if (edge === undefined) {
          stack.pop()
          open.delete(frame.node)
          done.add(frame.node)
        } else if (!open.has(edge.target)) {
          if (!done.has(edge.target)) enter(edge.target, edge.via)
        } else {
          this.#breakLoop(stack, open, edge.via)
        }
      }
    }
  }

  /** Removes the last reference of a cycle, and returns to its place; every cycle has one. */
  #breakLoop(stack: Frame[], open: Set<object>, closing: RefKeyword | undefined): void {
    let via = closing
    while (via === undefined) {
      const frame = stack.pop() as Frame
      open.delete(frame.node)
      via = frame.via
    }
    const { node } = stack.at(-1) as Frame
    this.#drop(node, via, "ref-loop", looping(String(node[via])))
  }

  #edges(node: Record<string, unknown>): Edge[] {
    const edges: Edge[] = []
    const visit = (target: SchemaNode): void => {
      if (typeof target !== "boolean") edges.push({ target, via: undefined })
    }
    eachSubschema(node, visit, IN_PLACE)
    for (const { keyword, target } of this.#targets.get(node) ?? []) {
      if (typeof target !== "boolean" && keyword in node) edges.push({ target, via: keyword })
    }
    return edges
  }

  #drop(
    node: Record<string, unknown>,
    keyword: string,
    code: "unresolved-ref" | "ref-loop",
    message: string,
  ): void {
    const path = this.#work.sourcePaths.get(node) ?? ""
    this.#work.report(code, childPointer(path, keyword), message)
    delete node[keyword]
  }
}

/** A step to another schema for the same value: by reference, or into an applicator. */
interface Edge {
  readonly target: Record<string, unknown>
  readonly via: RefKeyword | undefined
}

interface Frame {
  readonly node: Record<string, unknown>
  /** How it was reached. */
  readonly via: RefKeyword | undefined
  /** Still to be followed. */
  readonly edges: Edge[]
}

function encode(token: string): string {
  return encodeURI(escapeToken(token)).replaceAll("#", "%23")
}

function unresolved(text: string): string {
  return text.startsWith("#")
    ? `Reference "${text}" does not exist in this schema and is ignored. Add its target, under $defs for example.`
    : `Reference "${text}" points outside this schema and is ignored; nothing is fetched. Pass the document in the option "documents".`
}

function looping(text: string): string {
  return `Reference "${text}" refers to itself for the same value, which would never end, and is ignored. Refer from inside properties or items.`
}
