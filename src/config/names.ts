// Derives a name for an unnamed source from its address, path or command.

import { suggestedNamespace } from "../mcp/names.ts"
import { splitCommandLine } from "./command-line.ts"
import type { SourceConfig } from "./model.ts"

/** Generic host labels that do not identify a service. */
const GENERIC_LABELS: ReadonlySet<string> = new Set(["www", "api", "mcp", "docs", "raw", "rest"])
/** Programs that run other programs. */
const RUNNERS: ReadonlySet<string> = new Set([
  ..."npx npm pnpm pnpx yarn bunx bun deno node tsx uvx uv pipx python python3 docker podman".split(
    " ",
  ),
  ..."exec dlx run x tool start env cmd".split(" "),
])

/** Derives a namespace from the address, path or command of a source: `petstore` for `./apis/petstore.yaml`. */
export function sourceName(source: SourceConfig): string {
  if ("scan" in source) return nameOfPath(source.scan)
  if ("openapi" in source) return nameOfAddress(source.openapi)
  // A cluster is named after its first server.
  if ("remote" in source) return nameOfAddress(source.remote.split(",", 1)[0] ?? "")
  const { mcp } = source
  if (typeof mcp === "string") {
    return isAddress(mcp) ? nameOfAddress(mcp) : nameOfCommand(splitCommandLine(mcp) ?? [])
  }
  if (mcp.url !== undefined) return nameOfAddress(String(mcp.url))
  const command = typeof mcp.command === "string" ? [mcp.command] : (mcp.command ?? [])
  return nameOfCommand([...command, ...(mcp.args ?? [])])
}

/** Whether a text is an address of a server, rather than a file or a command. */
export function isAddress(text: string): boolean {
  return /^(?:https?|wss?|nats|tls|rediss?):\/\//i.test(text)
}

/** Whether an address is a broker's, with workers behind it, rather than a hub's. */
export function isBroker(address: string): boolean {
  return /^(?:nats|tls|rediss?):\/\//i.test(address)
}

/** A source whose file or folder is at another path; others stay as they are. */
export function withPath(source: SourceConfig, move: (path: string) => string): SourceConfig {
  if ("scan" in source) return { ...source, scan: move(source.scan) }
  const isFile = "openapi" in source && !isAddress(source.openapi)
  return isFile ? { ...source, openapi: move(source.openapi) } : source
}

function nameOfAddress(address: string): string {
  if (!isAddress(address)) return nameOfPath(address)
  let host: string
  try {
    host = new URL(address).hostname
  } catch {
    return "source"
  }
  if (host === "") return "source"
  // A numeric address has no name in it.
  if (/^[\d.]+$|^\[/.test(host)) return "local"
  const labels = host.split(".")
  const owned = labels.length > 1 ? labels.slice(0, -1) : labels
  return toNamespace(owned.findLast((label) => !GENERIC_LABELS.has(label)) ?? host)
}

function nameOfPath(path: string): string {
  const last = path.split(/[\\/]/).findLast((part) => part !== "" && part !== "." && part !== "..")
  const name = (last ?? "source").replace(/\.(?:json|ya?ml|[cm]?[jt]sx?)$/i, "")
  return toNamespace(name.replace(/[._-](?:openapi|swagger)$/i, ""))
}

function nameOfCommand(words: readonly string[]): string {
  const positional = words.filter((word) => !word.startsWith("-") && !word.includes("="))
  const what = positional.find(
    (word) => !RUNNERS.has(word.replace(/^.*[\\/]/, "").replace(/\.exe$/i, "")),
  )
  if (what === undefined) return "server"
  // A package name: remove the scope, the version, and "mcp" or "server" at either end.
  const isPath = /^[./\\~]|^[A-Za-z]:|\.(?:[cm]?[jt]sx?|py|exe|sh|rb|jar)$/.test(what)
  if (isPath) return nameOfPath(what.replace(/\.\w{2,4}$/, ""))
  const bare = what.replace(/^@([^/]+)\//, "").replace(/(?<=.)@.*$/, "")
  const short = bare.replace(/^(?:mcp-server|server|mcp)-|-(?:mcp-server|server|mcp)$/g, "")
  const last = short.split("/").at(-1) ?? short
  return toNamespace(last === "" ? bare : last)
}

function toNamespace(text: string): string {
  return suggestedNamespace(text.toLowerCase())
}
