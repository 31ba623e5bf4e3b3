import { isRecord, isText, stringsOf } from "../../../internal/guards.ts"
import {
  child,
  follow,
  followNoted,
  followedChild,
  isBroken,
  membersOf,
  noteAt,
  objectAt,
} from "../document.ts"
import type { Note, OpenAPIDocument, Place, Raw } from "../document.ts"
import type { SecurityRequirement, SecurityScheme, ServerModel, ServerVariable } from "../model.ts"
import type { RawOperation } from "./list.ts"

/** Reads the security requirements of an operation; default: those of the document. */
export function readSecurity(
  operation: RawOperation,
  schemes: ReadonlyMap<string, SecurityScheme>,
): SecurityRequirement[] {
  const declared = declaredSecurity(operation)
  if (!Array.isArray(declared)) return []
  return declared.filter(isRecord).map((requirement) => {
    const needed = Object.entries(requirement).map(([name, scopes]) => {
      const scheme: SecurityScheme = schemes.get(name) ?? { type: "unknown", declared: name }
      return [name, { scheme, scopes: stringsOf(scopes).filter(isText) }] as const
    })
    return new Map(needed)
  })
}

/** The declared security of an operation; `undefined` if there is none. */
export function declaredSecurity(operation: RawOperation): unknown {
  return valueAt(securityAt(operation))
}

function securityAt(operation: RawOperation): Place | undefined {
  return operation.member("security") ?? child(operation.document.place, "security")
}

/** Notes requirements that are broken references or name unknown schemes. */
export function noteSecurity(
  operation: RawOperation,
  schemes: ReadonlyMap<string, SecurityScheme>,
  notes: Note[],
): void {
  const place = securityAt(operation)
  const declared = place && followNoted(place, notes, "The required credentials are unknown.")
  if (declared === undefined) return
  if (!Array.isArray(declared.value)) {
    notes.push(noteAt(declared, `"security" must be a list; no credential is sent.`))
    return
  }
  declared.value.forEach((value: unknown, index) => {
    const pointer = `${declared.pointer}/${index}`
    for (const [name, member] of membersOf({ value, file: declared.file, pointer })) {
      if (schemes.has(name)) continue
      const cure = "as an object that says how to send it."
      const declaredScheme = membersOf(schemesAt(operation.document)).find(([key]) => key === name)
      if (declaredScheme !== undefined) {
        const instead = `Pass the credential of "${name}" ${cure}`
        followNoted(declaredScheme[1], notes, instead, true)
        continue
      }
      const message = `The document declares no security scheme "${name}": pass its credential ${cure}`
      notes.push(noteAt(member, message, true))
    }
  })
}

/** Resolves the value at a place; `undefined` if that fails. */
function valueAt(place: Place | undefined): unknown {
  if (place === undefined) return undefined
  const followed = follow(place)
  return isBroken(followed) ? undefined : followed.value
}

/** Every scheme of a document as an alternative, for operations without declared security. */
export function anyScheme(schemes: ReadonlyMap<string, SecurityScheme>): SecurityRequirement[] {
  return Array.from(schemes, ([name, scheme]) => new Map([[name, { scheme, scopes: [] }]]))
}

/** The security schemes of a document, by name. */
export function readSchemes(document: OpenAPIDocument): Map<string, SecurityScheme> {
  const schemes = new Map<string, SecurityScheme>()
  for (const [name, declared] of membersOf(schemesAt(document))) {
    const scheme = objectAt(declared)
    if (scheme !== undefined) schemes.set(name, readScheme(scheme.value))
  }
  return schemes
}

function schemesAt({ version, place }: OpenAPIDocument): Place | undefined {
  const isLegacy = version === "2.0"
  const holder = isLegacy ? place : followedChild(place, "components")
  return holder && followedChild(holder, isLegacy ? "securityDefinitions" : "securitySchemes")
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
export function ownServers(operation: RawOperation): ServerModel[] {
  const { version, root } = operation.document
  if (version === "2.0") {
    const schemes = stringsOf(operation.raw["schemes"]).filter(isText)
    return schemes.length > 0 ? legacyServers(root, schemes) : []
  }
  const own = readServers(valueAt(operation.member("servers")))
  return own.length > 0 ? own : readServers(valueAt(operation.shared("servers")))
}

/** The servers of a document; one at least. */
export function rootServers(document: OpenAPIDocument): ServerModel[] {
  const { root } = document
  if (document.version === "2.0") return legacyServers(root, stringsOf(root["schemes"]))
  return readServers(valueAt(child(document.place, "servers")))
}

function readServers(value: unknown): ServerModel[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).flatMap(({ url, variables }) => {
    if (typeof url !== "string") return []
    const declared = Object.entries(isRecord(variables) ? variables : {})
    const known = declared.flatMap(([name, raw]) =>
      isRecord(raw) ? [[name, variableOf(raw)] as const] : [],
    )
    return [{ url, variables: new Map(known) }]
  })
}

/** Reads a server variable; versions and ports may be numbers. */
function variableOf({ default: preset, enum: values }: Raw): ServerVariable {
  return { default: wordOf(preset), ...(Array.isArray(values) && { enum: values.map(wordOf) }) }
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
