import { isUnencrypted } from "../../internal/unencrypted.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { UsageError, type CommandArgs, type CommandIO } from "../model.ts"

/** Address of a running hub. */
export interface HubAddress {
  /** Without a trailing slash. */
  readonly url: string
  readonly token: string | undefined
}

/** Options that open sources in this process. */
const OWN = ["config", ...SOURCE_NAMES, "source"] as const

/** The hub of `--hub`, or of `OPERATIONS_HUB` if no source is given; `undefined` for none. */
export function hubAddress(args: CommandArgs, { env }: CommandIO): HubAddress | undefined {
  const own = OWN.find((name) => args.flag(name))
  const asked = args.text("hub")
  if (asked !== undefined && own !== undefined) {
    throw new UsageError(
      `--hub and --${own} exclude each other: a hub has sources of its own. Leave one out.`,
    )
  }
  const address = asked ?? (own === undefined ? filled(env["OPERATIONS_HUB"]) : undefined)
  if (address === undefined) {
    if (!args.flag("token")) return undefined
    throw new UsageError("--token is for a hub: say which with --hub <url> or OPERATIONS_HUB.")
  }
  const where = asked === undefined ? "OPERATIONS_HUB" : "--hub"
  const token = args.text("token") ?? filled(env["OPERATIONS_TOKEN"])
  const url = hubUrl(address, where)
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

/** Normalizes `localhost:3000` and `http://localhost:3000/` to `http://localhost:3000`. */
function hubUrl(address: string, where: string): string {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(address)
    ? address
    : `${schemeOf(address)}://${address}`
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

// Checked before it is sent: the platform's error about an invalid header would quote it.
function headerSafe(token: string): string {
  if (/^[\x21-\x7E]+$/.test(token)) return token
  throw new UsageError("The token has characters that no token has, such as spaces or line ends.")
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim()
}
