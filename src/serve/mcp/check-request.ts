import { checkUpgrade } from "../upgrade.ts"
import type { UpgradeRequestLike, UpgradeRules } from "../upgrade.ts"
import { NOT_SERVED, refuse } from "./answers.ts"
import type { TextAnswer } from "./answers.ts"
import type { Incoming } from "./incoming.ts"

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
): TextAnswer | undefined {
  const local = { localAddress: "127.0.0.1" }
  const seen = isAuthenticated ? request : { headers: request.headers, socket: local }
  const refused = checkUpgrade(seen, rules)
  return refused === undefined
    ? undefined
    : refuse(refused.status, NOT_SERVED, `Refused: ${refused.reason}.`)
}

/** Refuses a POST that does not send JSON, or does not accept the types of the response. */
export function checkMedia(incoming: Incoming): TextAnswer | undefined {
  const type = incoming.header("content-type")
  if (type !== "application/json" && essence(type) !== "application/json") {
    return refuse(415, NOT_SERVED, "Unsupported Media Type: send application/json.")
  }
  const accepted = incoming.header("accept")
  if (accepted === USUAL_ACCEPT) return undefined
  if (takes(accepted, "application/json") && takes(accepted, "text/event-stream")) return undefined
  return refuse(
    406,
    NOT_SERVED,
    "Not Acceptable: the client must accept application/json and text/event-stream.",
  )
}

/** What most clients send. */
const USUAL_ACCEPT = "application/json, text/event-stream"

/** Whether an `Accept` header covers a type; a missing header covers everything. */
function takes(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.trim() === "") return true
  const group = `${type.split("/", 1)[0]}/*`
  return accept.split(",").some((range) => {
    const name = essence(range)
    return (
      (name === type || name === group || name === "*/*") && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range)
    )
  })
}

function essence(value: string | undefined): string {
  return (value ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
}
