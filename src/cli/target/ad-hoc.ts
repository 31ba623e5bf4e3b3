import type { MCPSource, OpenAPISource, RemoteSource, SourceConfig } from "../../config/model.ts"
import { UsageError, type CommandArgs, type CommandIO } from "../model.ts"
import { titleOfFile } from "./title.ts"

const KINDS = ["openapi", "mcp", "scan", "remote"] as const

/** Sources that the command line defines; empty when it defines none. `only` is one that was given in another way. */
export async function adHocSources(
  args: CommandArgs,
  io: CommandIO,
  only?: { readonly option: (typeof KINDS)[number]; readonly text: string },
): Promise<SourceConfig[]> {
  const textsOf = (kind: string): readonly string[] =>
    only === undefined ? args.texts(kind) : kind === only.option ? [only.text] : []
  for (const kind of KINDS) {
    if (textsOf(kind).some((text) => text.trim() === "")) {
      throw new UsageError(`--${kind} needs a value that is not empty.`)
    }
  }
  const parsed = headersOf(args)
  const headers = Object.keys(parsed).length > 0 ? parsed : undefined
  const sources: SourceConfig[] = [
    ...(await Promise.all(textsOf("openapi").map((text) => openapi(text, args, headers, io)))),
    ...textsOf("mcp").map((mcp): MCPSource => (isWeb(mcp) ? { mcp, headers } : { mcp })),
    ...textsOf("scan").map((scan) => ({ scan })),
    ...textsOf("remote").map((remote): RemoteSource => ({
      remote,
      headers,
      ...(args.flag("insecure") && { insecure: true }),
    })),
  ]
  checkUse(args, textsOf("openapi").length, sources)
  return sources
}

async function openapi(
  document: string,
  args: CommandArgs,
  headers: Readonly<Record<string, string>> | undefined,
  io: CommandIO,
): Promise<OpenAPISource> {
  const namespace = isWeb(document) ? undefined : await titleOfFile(document, io.cwd)
  return { openapi: document, baseUrl: args.text("base-url"), headers, namespace }
}

/** Parses headers of the form `"name: value"`. The value is never shown: it may be a credential. */
function headersOf(args: CommandArgs): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const text of args.texts("header")) {
    const at = text.indexOf(":")
    const name = text.slice(0, Math.max(at, 0)).trim()
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || name === "__proto__") {
      throw new UsageError('--header takes a name and a value: --header "x-api-key: ${env:KEY}"')
    }
    headers[name] = text.slice(at + 1).trim()
  }
  return headers
}

/** Refuses options without effect. */
function checkUse(args: CommandArgs, documents: number, sources: readonly SourceConfig[]): void {
  if (args.flag("base-url") && documents !== 1) {
    const why = documents === 0 ? "there is none" : `there are ${documents}`
    throw new UsageError(`--base-url is for one --openapi document; ${why}.`)
  }
  if (args.flag("header") && !sources.some((source) => "headers" in source)) {
    throw new UsageError(
      "--header is for requests of --openapi, --remote and --mcp with an address; there is none.",
    )
  }
}

function isWeb(text: string): boolean {
  return /^https?:\/\//i.test(text)
}
