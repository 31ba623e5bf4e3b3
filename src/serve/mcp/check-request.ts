import { checkUpgrade } from "../upgrade.ts"
import type { UpgradeRequestLike, UpgradeRules } from "../upgrade.ts"
import { NOT_SERVED, refuse } from "./answers.ts"

/**
 * Refuses requests from hosts and origins that are not allowed; `undefined` admits a request.
 *
 * Without authentication, `Host` has to be a name of this machine, or one of `allowedHosts`:
 * a web page can point its own domain name at a local address. A page's `Origin`
 * has to be the same host, or one of `allowedOrigins`.
 */
export function checkSource(
  request: UpgradeRequestLike,
  rules: UpgradeRules,
  isAuthenticated: boolean,
): Response | undefined {
  const local = { localAddress: "127.0.0.1" }
  const seen = isAuthenticated ? request : { headers: request.headers, socket: local }
  const refused = checkUpgrade(seen, rules)
  return refused === undefined
    ? undefined
    : refuse(refused.status, NOT_SERVED, `Refused: ${refused.reason}.`)
}

/** Refuses a POST that does not send JSON, or does not accept the types of the response. */
export function checkMedia(headers: Headers): Response | undefined {
  if (essence(headers.get("content-type")) !== "application/json") {
    return refuse(415, NOT_SERVED, "Unsupported Media Type: send application/json.")
  }
  const accepted = headers.get("accept")
  if (takes(accepted, "application/json") && takes(accepted, "text/event-stream")) return undefined
  return refuse(
    406,
    NOT_SERVED,
    "Not Acceptable: the client must accept application/json and text/event-stream.",
  )
}

/** Whether an `Accept` header covers a type; a missing header covers everything. */
function takes(accept: string | null, type: string): boolean {
  if (accept === null || accept.trim() === "") return true
  const group = `${type.split("/", 1)[0]}/*`
  return accept.split(",").some((range) => {
    const name = essence(range)
    return (
      (name === type || name === group || name === "*/*") && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range)
    )
  })
}

function essence(value: string | null): string {
  return (value ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
}
