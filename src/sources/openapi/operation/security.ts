import { isRecord } from "../../../internal/guards.ts"
import { escapeToken } from "../../../schema/json.ts"
import { brokenRefMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, Raw } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import type { SecurityRequirement, SecurityScheme, ServerModel } from "../model.ts"
import { typesOf } from "./body.ts"
import type { RawOperation } from "./list.ts"
import { child, followedChild } from "./media.ts"

/** Reads the security requirements of an operation; default: those of the document. */
export function readSecurity(
  document: OpenAPIDocument,
  operation: RawOperation,
  schemes: ReadonlyMap<string, SecurityScheme>,
): SecurityRequirement[] {
  const declared = declaredSecurity(document, operation)
  if (!Array.isArray(declared)) return []
  return declared.filter(isRecord).map((requirement) => {
    const needed: Array<[string, { scheme: SecurityScheme; scopes: readonly string[] }]> = []
    for (const name of Object.keys(requirement)) {
      const scheme: SecurityScheme = schemes.get(name) ?? { type: "unknown", declared: name }
      needed.push([name, { scheme, scopes: typesOf(requirement[name]) }])
    }
    return new Map(needed)
  })
}

/** The declared security of an operation; `undefined` if there is none. */
export function declaredSecurity(document: OpenAPIDocument, operation: RawOperation): unknown {
  return valueAt(document, operation.member("security") ?? child(document.place, "security"))
}

/** Notes requirements that are broken references or name unknown schemes. */
export function noteSecurity(
  document: OpenAPIDocument,
  operation: RawOperation,
  schemes: ReadonlyMap<string, SecurityScheme>,
  notes: Note[],
): void {
  const place = operation.member("security") ?? child(document.place, "security")
  if (place === undefined) return
  const declared = document.follow(place)
  if (isBroken(declared)) {
    const message = `${brokenRefMessage(declared)} The required credentials are unknown.`
    notes.push(noteAt(document, place, message))
    return
  }
  if (!Array.isArray(declared.value)) {
    const message = `"security" must be a list; no credential is sent.`
    notes.push(noteAt(document, declared, message))
    return
  }
  declared.value.forEach((requirement: unknown, index) => {
    if (!isRecord(requirement)) return
    for (const name of Object.keys(requirement)) {
      if (schemes.has(name)) continue
      const pointer = `${declared.pointer}/${index}/${escapeToken(name)}`
      const message = `The document declares no security scheme "${name}": pass its credential as an object that says how to send it.`
      notes.push(noteAt(document, { file: declared.file, pointer }, message, true))
    }
  })
}

/** Resolves the value at a place; `undefined` if that fails. */
function valueAt(document: OpenAPIDocument, place: Place | undefined): unknown {
  if (place === undefined) return undefined
  const followed = document.follow(place)
  return isBroken(followed) ? undefined : followed.value
}

/** Every scheme of a document as an alternative, for operations without declared security. */
export function anyScheme(schemes: ReadonlyMap<string, SecurityScheme>): SecurityRequirement[] {
  return Array.from(schemes, ([name, scheme]) => new Map([[name, { scheme, scopes: [] }]]))
}

/** The security schemes of a document, by name. */
export function readSchemes(document: OpenAPIDocument): Map<string, SecurityScheme> {
  const holder =
    document.version === "2.0"
      ? document.place
      : followedChild(document, document.place, "components")
  const key = document.version === "2.0" ? "securityDefinitions" : "securitySchemes"
  const declared = holder && followedChild(document, holder, key)
  const schemes = new Map<string, SecurityScheme>()
  if (declared === undefined || !isRecord(declared.value)) return schemes
  for (const name of Object.keys(declared.value)) {
    const scheme = followedChild(document, declared, name)?.value
    if (isRecord(scheme)) schemes.set(name, readScheme(scheme))
  }
  return schemes
}

function readScheme(raw: Raw): SecurityScheme {
  const { type, in: location, name, scheme } = raw
  switch (type) {
    case "apiKey":
      if (location === "query" || location === "cookie" || location === "header") {
        return { type, in: location, name: wordOf(name) }
      }
      break
    case "http":
      return { type, scheme: wordOf(scheme).toLowerCase() }
    case "basic":
      return { type: "http", scheme: "basic" }
    case "oauth2":
      return { type, tokenUrl: tokenUrlOf(raw) }
    case "openIdConnect":
      return { type }
    case "mutualTLS":
      return { type }
  }
  return { type: "unknown", declared: wordOf(type) }
}

function tokenUrlOf(raw: Raw): string | undefined {
  const { flows, flow, tokenUrl } = raw
  if (flow === "application" && typeof tokenUrl === "string") return tokenUrl
  const credentialsFlow = isRecord(flows) ? flows["clientCredentials"] : undefined
  const url = isRecord(credentialsFlow) ? credentialsFlow["tokenUrl"] : undefined
  return typeof url === "string" ? url : undefined
}

/** The servers of an operation: its own, else its path's; empty if there are none. */
export function ownServers(document: OpenAPIDocument, operation: RawOperation): ServerModel[] {
  if (document.version === "2.0") {
    const schemes = typesOf(operation.raw["schemes"])
    return schemes.length > 0 ? legacyServers(document.root, schemes) : []
  }
  const own = readServers(valueAt(document, operation.member("servers")))
  return own.length > 0 ? own : readServers(valueAt(document, operation.shared("servers")))
}

/** The servers of a document; one at least. */
export function rootServers(document: OpenAPIDocument): ServerModel[] {
  const { root } = document
  if (document.version === "2.0") return legacyServers(root, typesOf(root["schemes"]))
  return readServers(valueAt(document, child(document.place, "servers")))
}

function readServers(value: unknown): ServerModel[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).flatMap(({ url, variables }) => {
    if (typeof url !== "string") return []
    const byName = new Map<string, ServerVariable>()
    if (isRecord(variables)) {
      for (const name of Object.keys(variables)) {
        const raw = variables[name]
        if (isRecord(raw)) byName.set(name, variableOf(raw))
      }
    }
    return [{ url, variables: byName }]
  })
}

type ServerVariable =
  ServerModel["variables"] extends ReadonlyMap<string, infer TVariable> ? TVariable : never

/** Reads a server variable; versions and ports may be numbers. */
function variableOf({ default: preset, enum: values }: Raw): ServerVariable {
  return {
    default: wordOf(preset),
    ...(Array.isArray(values) && { enum: values.map(wordOf) }),
  }
}

/** Converts a string, number or boolean to text; "" for objects, whose `toString` is not trusted. */
function wordOf(value: unknown): string {
  const isScalar = typeof value === "string" || typeof value === "number"
  return isScalar || typeof value === "boolean" ? `${value}` : ""
}

/** `host`, `basePath` and `schemes` of Swagger 2.0; missing parts come from the document's address. */
function legacyServers(root: Raw, schemes: readonly string[]): ServerModel[] {
  const { host, basePath } = root
  const path = typeof basePath === "string" && basePath !== "" ? basePath : "/"
  const rooted = path.startsWith("/") ? path : `/${path}`
  const variables = new Map()
  if (typeof host !== "string" || host === "") return [{ url: rooted, variables }]
  const usable = schemes.filter((scheme) => scheme === "https" || scheme === "http")
  const ordered = usable.toSorted((left, right) => right.length - left.length)
  if (ordered.length === 0) return [{ url: `//${host}${rooted}`, variables }]
  return ordered.map((scheme) => ({ url: `${scheme}://${host}${rooted}`, variables }))
}
