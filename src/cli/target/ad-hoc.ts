import type { SourceConfig, SourceKind } from "../../config/kinds/index.ts"
import { UsageError, type CommandArgs, type CommandIO } from "../model.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { COMMAND_SOURCES } from "../sources/index.ts"

/** Sources that the command line defines; empty when it defines none. `only` is one that was given in another way. */
export async function adHocSources(
  args: CommandArgs,
  io: CommandIO,
  only?: { readonly option: SourceKind; readonly text: string },
): Promise<SourceConfig[]> {
  const textsOf = (kind: SourceKind): readonly string[] =>
    only === undefined ? args.texts(kind) : kind === only.option ? [only.text] : []
  const given = SOURCE_NAMES.flatMap((kind) => textsOf(kind).map((text) => ({ kind, text })))
  const empty = given.find(({ text }) => text.trim() === "")
  if (empty !== undefined) {
    throw new UsageError(`--${empty.kind} needs a value that is not empty.`)
  }
  const parsed = headersOf(args)
  const headers = Object.keys(parsed).length > 0 ? parsed : undefined
  const sources = await Promise.all(
    given.map(({ kind, text }) => COMMAND_SOURCES[kind].sourceOf(text, headers, args, io)),
  )
  for (const kind of SOURCE_NAMES) checkUse(kind, textsOf(kind).length, args)
  if (args.flag("header") && !sources.some((source) => "headers" in source)) {
    throw new UsageError(
      "--header is for requests of --openapi, --remote and --mcp with an address; there is none.",
    )
  }
  return sources as SourceConfig[]
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

/** Refuses options of a kind without a source of it, or with several. */
function checkUse(kind: SourceKind, count: number, args: CommandArgs): void {
  const { ownOptions = {}, atAddress = "a source" } = COMMAND_SOURCES[kind]
  const unused = Object.keys(ownOptions).find((name) => args.flag(name))
  if (unused === undefined || count === 1) return
  const what = atAddress.replace(/^an? /, "")
  const why = count === 0 ? "there is none" : `there are ${count}`
  throw new UsageError(`--${unused} is for one --${kind} ${what}; ${why}.`)
}
