import type { ResponseEnvelope } from "../core/envelope.ts"
import type { CachePolicy } from "../core/resilience.ts"

/** For how long a result is used, in milliseconds from now. */
export interface Lifetime {
  readonly ttl: number
  readonly stale: number
  readonly staleIfError: number
}

type Headers = Readonly<Record<string, string>>

/**
 * How long a result may be kept; `undefined` if not at all.
 *
 * The headers of an HTTP server can shorten the configured time, or set it if the policy obeys them.
 */
export function lifetimeOf({ meta }: ResponseEnvelope, policy: CachePolicy): Lifetime | undefined {
  if (meta.source === "mcp" && meta.isError) return undefined
  if (meta.source !== "http") return configured(policy)
  return meta.statusCode === 206 ? undefined : lifetimeByHeaders(meta.headers ?? {}, policy)
}

/** The same by the headers of an HTTP response. */
export function lifetimeByHeaders(headers: Headers, policy: CachePolicy): Lifetime | undefined {
  const said = directives(headers["cache-control"])
  const isShared = policy.vary === "none"
  if (said.has("no-store") || headers["vary"]?.trim() === "*") return undefined
  if (isShared && said.has("private")) return undefined
  const maxAge = said.has("no-cache")
    ? 0
    : ((isShared ? seconds(said, "s-maxage") : undefined) ?? seconds(said, "max-age"))
  const age = Number(headers["age"] ?? 0) * 1000
  const fresh = maxAge === undefined ? undefined : Math.max(maxAge - (age > 0 ? age : 0), 0)
  const own = configured(policy)
  const combine = (ours: number, theirs: number | undefined): number =>
    theirs === undefined
      ? ours
      : policy.respectCacheControl === true
        ? theirs
        : Math.min(ours, theirs)
  return {
    ttl: combine(own.ttl, fresh),
    stale: combine(own.stale, seconds(said, "stale-while-revalidate")),
    staleIfError: combine(own.staleIfError, seconds(said, "stale-if-error")),
  }
}

function configured({ ttl, stale = 0, staleIfError = 0 }: CachePolicy): Lifetime {
  return { ttl, stale, staleIfError }
}

function directives(value = ""): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const part of value.toLowerCase().split(",")) {
    const [name = "", argument = ""] = part.split("=", 2)
    if (name.trim() !== "") values.set(name.trim(), argument.trim().replaceAll('"', ""))
  }
  return values
}

function seconds(said: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = said.get(name)
  return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) * 1000 : undefined
}
