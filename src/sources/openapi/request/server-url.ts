import { parseUrl } from "../../../http-client/egress.ts"
import type { ServerModel } from "../model.ts"
import { unusableError } from "./errors.ts"
import { trimEnd } from "../../../internal/trim-end.ts"

/** Values for the variables in server URLs. */
export type ServerVariables = Readonly<Record<string, string>>

/** Parses the user's `baseUrl`; throws if it is not usable as a base. */
export function readBaseUrl(id: string, baseUrl: string | URL): URL {
  const url = parseUrl(baseUrl)
  if (url === undefined) {
    throw unusableError(id, '`baseUrl` is not an absolute URL such as "https://api.example.com/v1"')
  }
  const issue = findIssue(url)
  if (issue !== undefined) throw unusableError(id, `\`baseUrl\` ${issue}`)
  return url
}

/** A usable server of a document. */
export interface UsableServer {
  readonly url: URL
  /** The URL is relative: the origin is that of the document. */
  readonly isRelative: boolean
}

/**
 * Reads a server of a document; returns a text that says why it cannot be used, if so.
 *
 * Throws when the user's value for a variable is not allowed: falling back to another server would be wrong.
 */
export function readServer(
  id: string,
  server: ServerModel,
  values: ServerVariables | undefined,
  documentUrl: string,
): UsableServer | string {
  const missing: string[] = []
  const filled = server.url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = variableOf(id, server, name, values)
    if (value === undefined) missing.push(name)
    return value ?? whole
  })
  if (missing.length > 0) {
    return `"${server.url}" has no value for "${missing.join('", "')}" (set it in \`serverVariables\`)`
  }
  const url = parseUrl(filled, documentUrl)
  if (url === undefined) return `"${server.url}" is not a URL`
  const issue = findIssue(url)
  if (issue !== undefined) return `"${url.protocol}//${url.host}${url.pathname}" ${issue}`
  const isRelative = parseUrl(filled) === undefined && !/^\s*[\\/]{2}/.test(filled)
  return { url, isRelative }
}

/** The path of a URL, without slashes at its end. */
export function pathOf(url: URL): string {
  return trimEnd(url.pathname, "/")
}

function variableOf(
  id: string,
  server: ServerModel,
  name: string,
  values: ServerVariables | undefined,
): string | undefined {
  const variable = server.variables.get(name)
  const text = values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined
  if (text === undefined) return variable?.default
  if (variable?.enum !== undefined && variable.enum.length > 0 && !variable.enum.includes(text)) {
    const allowed = variable.enum.map((each) => `"${each}"`).join(", ")
    throw unusableError(
      id,
      `\`serverVariables\` has "${text}" for "${name}", which must be one of ${allowed}`,
    )
  }
  return text
}

/** Why a URL cannot be used; the text omits the URL if it may contain a secret. */
function findIssue(url: URL): string | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return `starts with "${url.protocol}"; only http: and https: can be called`
  }
  if (url.username !== "" || url.password !== "") {
    return "contains a user name or a password; set credentials in `auth`"
  }
  if (url.search !== "" || url.hash !== "") {
    return "has a query or a fragment; only scheme, host and path are allowed"
  }
  return undefined
}
