import { isUnencrypted } from "../../internal/readable.ts"
import { UsageError } from "../model.ts"
import type { CommandArgs, CommandIO } from "../model.ts"

/** A hub that runs elsewhere. */
export interface HubAddress {
  /** Without a slash at its end. */
  readonly url: string
  readonly token: string | undefined
}

/** Options that name sources of this process. */
const OWN = ["config", "openapi", "mcp", "scan", "remote", "source"] as const

/** The hub that `--hub` names, or `OPERATIONS_HUB` where no source is named; `undefined` for none. */
export function hubAddress(args: CommandArgs, { env }: CommandIO): HubAddress | undefined {
  const own = OWN.find((name) => args.flag(name))
  const asked = args.text("hub")
  if (asked !== undefined && own !== undefined) {
    throw new UsageError(
      `--hub and --${own} exclude each other: a hub has sources of its own. Leave one out.`,
    )
  }
  const given = asked ?? (own === undefined ? filled(env["OPERATIONS_HUB"]) : undefined)
  if (given === undefined) {
    if (!args.flag("token")) return undefined
    throw new UsageError("--token is for a hub: say which with --hub <url> or OPERATIONS_HUB.")
  }
  const where = asked === undefined ? "OPERATIONS_HUB" : "--hub"
  const token = args.text("token") ?? filled(env["OPERATIONS_TOKEN"])
  const url = hubUrl(given, where)
  if (token === undefined) return { url, token }
  if (!args.flag("insecure")) refuseReadable(url)
  return { url, token: headerSafe(token) }
}

function refuseReadable(url: string): void {
  if (!isUnencrypted(new URL(url))) return
  throw new UsageError(
    `The token is not sent to ${url}, because anyone on the way could read it. Use https, or say --insecure.`,
  )
}

/** `localhost:3000` and `http://localhost:3000/` as `http://localhost:3000`. */
function hubUrl(given: string, where: string): string {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `${schemeOf(given)}://${given}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${where} takes the address of a hub, such as http://127.0.0.1:3000.`)
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      `${where}: leave credentials out of the address; give a token with OPERATIONS_TOKEN.`,
    )
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`
}

function schemeOf(host: string): "http" | "https" {
  return /^(?:localhost|127\.|\[::1\])/.test(host) ? "http" : "https"
}

// Checked before it is sent: what a platform says of a bad header quotes it.
function headerSafe(token: string): string {
  if (/^[\x21-\x7E]+$/.test(token)) return token
  throw new UsageError("The token has characters that no token has, such as spaces or line ends.")
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim()
}
