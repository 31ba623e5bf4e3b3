import { originOf, parseUrl } from "../../../http-client/egress.ts"
import type { RequestPlan, ServerModel } from "../model.ts"
import { unusableError } from "./text.ts"
import { trimEnd } from "../../../internal/trim-end.ts"
import { isPrivateHost } from "../../../internal/private-host.ts"
import { CallError, ErrorCode } from "../../../core/errors.ts"
import type { HTTPServiceConfig } from "../config.ts"

type OfServer = "baseUrl" | "servers" | "serverVariables" | "allowedOrigins" | "blockPrivate"

/** The user's options for the server. */
export interface ServerOptions extends Pick<HTTPServiceConfig, OfServer> {
  /** The address of the document: the base of relative servers. */
  readonly documentUrl?: string | undefined
}

/** The chosen server. */
export interface ChosenServer {
  /** Absolute, without a slash at its end. */
  readonly base: string
  readonly origin: string
}

/**
 * Chooses the server of an operation.
 *
 * The user's `baseUrl` replaces the document's servers. An operation's own server on another origin is used if
 * `allowedOrigins` contains it; otherwise `EGRESS_BLOCKED`.
 */
export function chooseServer(plan: RequestPlan, options: ServerOptions): ChosenServer {
  if (options.baseUrl !== undefined) return underBaseUrl(plan, options, options.baseUrl)
  if (options.servers === "document") return documentServer(plan, options)
  throw unusableError(
    plan.id,
    'no server is configured; set `baseUrl`, or `servers: "document"` to use the document\'s servers',
  )
}

function underBaseUrl(
  plan: RequestPlan,
  options: ServerOptions,
  baseUrl: string | URL,
): ChosenServer {
  const base = readBaseUrl(plan.id, baseUrl)
  const roots = rootServers(plan, options)
  const own = ownServer(plan, options, roots)
  if (own === undefined) return chosen(plan, options, base, pathOf(base))
  const path = pathOf(own.url)
  const [first] = roots
  if (first === undefined) {
    // This server equals the document's, so `baseUrl` replaces it.
    const isThere = pathOf(base).endsWith(path)
    return chosen(plan, options, base, isThere ? pathOf(base) : path)
  }
  const root = roots.find(({ url }) => url.origin === own.url.origin)
  if (root !== undefined || own.isRelative) {
    return chosen(plan, options, base, replacePath(pathOf(base), pathOf((root ?? first).url), path))
  }
  if (own.url.origin !== base.origin && !isAllowed(own.url, options)) throw elsewhere(plan, own.url)
  return chosen(plan, options, own.url, path)
}

/** Replaces the root server's path at the end of the user's URL by the operation's own path. */
function replacePath(base: string, root: string, own: string): string {
  return base.endsWith(root) ? base.slice(0, base.length - root.length) + own : own
}

function documentServer(plan: RequestPlan, options: ServerOptions): ChosenServer {
  const roots = rootServers(plan, options)
  const url =
    usable(plan, plan.servers, options)[0]?.url ??
    roots[0]?.url ??
    new URL("/", documentBase(options))
  if (url.origin === UNKNOWN_ORIGIN) {
    throw unusableError(
      plan.id,
      `the document has no usable server (${issues(plan, options)}); set \`baseUrl\``,
    )
  }
  const isRoot = roots.length === 0 || roots.some((root) => root.url.origin === url.origin)
  if (!isRoot && !isAllowed(url, options)) throw elsewhere(plan, url)
  if (isPrivateHost(url.hostname) && !isPointedAt(url, options)) {
    throw blocked(
      plan,
      `the document sends it to ${url.origin}, a private address; if that is intended, set it as ` +
        "`baseUrl` or add it to `allowedOrigins`",
    )
  }
  return chosen(plan, options, url, pathOf(url))
}

/** A placeholder for the unknown origin of a document; no request can go there. */
const UNKNOWN_ORIGIN = "https://document.invalid"

/** The usable servers of the document; none if they are relative to an unknown address. */
function rootServers(plan: RequestPlan, options: ServerOptions): UsableServer[] {
  const isImplied = plan.rootServers.every(({ url }) => url === "" || url === "/")
  if (isImplied && documentBase(options).startsWith(UNKNOWN_ORIGIN)) return []
  return usable(plan, plan.rootServers, options)
}

/** The first usable server of the operation or its path, if it differs from the document's. */
function ownServer(
  plan: RequestPlan,
  options: ServerOptions,
  roots: readonly UsableServer[],
): UsableServer | undefined {
  if (plan.servers === plan.rootServers) return undefined
  if (plan.servers.some(({ url }) => plan.rootServers.some((root) => root.url === url))) {
    return undefined
  }
  const [own] = usable(plan, plan.servers, options)
  return roots.some(({ url }) => url.href === own?.url.href) ? undefined : own
}

function usable(
  plan: RequestPlan,
  servers: readonly ServerModel[],
  options: ServerOptions,
): UsableServer[] {
  return servers
    .map((server) => readServer(plan.id, server, options))
    .filter((read) => typeof read !== "string")
}

function issues(plan: RequestPlan, options: ServerOptions): string {
  const servers = plan.servers.length > 0 ? plan.servers : plan.rootServers
  const reasons = servers.map((server) => {
    const read = readServer(plan.id, server, options)
    if (typeof read === "string") return read
    return `"${server.url}" is relative, and the address of the document is unknown`
  })
  return reasons.length === 0 ? "it has none" : reasons.join("; ")
}

function documentBase(options: ServerOptions): string {
  return options.documentUrl !== undefined && /^https?:/i.test(options.documentUrl)
    ? options.documentUrl
    : `${UNKNOWN_ORIGIN}/`
}

function isPointedAt(server: URL, options: ServerOptions): boolean {
  return isAllowed(server, options) || server.origin === originOf(documentBase(options))
}

function isAllowed(server: URL, options: ServerOptions): boolean {
  return (options.allowedOrigins ?? []).some((allowed) => originOf(allowed) === server.origin)
}

function chosen(
  plan: RequestPlan,
  options: ServerOptions,
  server: URL,
  path: string,
): ChosenServer {
  if (options.blockPrivate === true && isPrivateHost(server.hostname)) {
    throw blocked(plan, `${server.origin} is a private address, and \`blockPrivate\` is set`)
  }
  return { base: `${server.origin}${path}`, origin: server.origin }
}

function elsewhere(plan: RequestPlan, server: URL): CallError {
  return blocked(
    plan,
    `the document gives it a server of its own at ${server.origin}; ` +
      `if that is intended, add "${server.origin}" to \`allowedOrigins\``,
  )
}

function blocked(plan: RequestPlan, issue: string): CallError {
  return new CallError(ErrorCode.EGRESS_BLOCKED, `Operation "${plan.id}" was not sent: ${issue}.`, {
    operationId: plan.id,
  })
}

/** Parses the user's `baseUrl`; throws if it is not usable as a base. */
function readBaseUrl(id: string, baseUrl: string | URL): URL {
  const issue = baseUrlIssue(baseUrl)
  if (issue !== undefined) throw unusableError(id, `\`baseUrl\` ${issue}`)
  return new URL(baseUrl)
}

/** What is wrong with a `baseUrl`. */
export function baseUrlIssue(baseUrl: string | URL): string | undefined {
  const url = parseUrl(baseUrl)
  if (url === undefined) return 'is not an absolute URL such as "https://api.example.com/v1"'
  return findIssue(url)
}

/** A usable server of a document. */
interface UsableServer {
  readonly url: URL
  /** The URL is relative: the origin is that of the document. */
  readonly isRelative: boolean
}

/**
 * Reads a server of a document; returns a text that says why it cannot be used, if so.
 *
 * Throws when the user's value for a variable is not allowed: falling back to another server would be wrong.
 */
function readServer(
  id: string,
  server: ServerModel,
  options: ServerOptions,
): UsableServer | string {
  const missing: string[] = []
  const filled = server.url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = variableOf(id, server, name, options)
    if (value === undefined) missing.push(name)
    return value ?? whole
  })
  if (missing.length > 0) {
    return `"${server.url}" has no value for "${missing.join('", "')}" (set it in \`serverVariables\`)`
  }
  const url = parseUrl(filled, documentBase(options))
  if (url === undefined) return `"${server.url}" is not a URL`
  const issue = findIssue(url)
  if (issue !== undefined) return `"${url.protocol}//${url.host}${url.pathname}" ${issue}`
  const isRelative = parseUrl(filled) === undefined && !/^\s*[\\/]{2}/.test(filled)
  return { url, isRelative }
}

/** The path of a URL, without slashes at its end. */
function pathOf(url: URL): string {
  return trimEnd(url.pathname, "/")
}

function variableOf(
  id: string,
  server: ServerModel,
  name: string,
  { serverVariables: values }: ServerOptions,
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
