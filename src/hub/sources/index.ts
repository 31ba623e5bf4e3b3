import type { SourceKind } from "../../config/model.ts"
import type { OpenSourceOf } from "../model.ts"

/** Each kind is loaded when a source of it is opened: a command with one source starts quickly. */
const OPENERS: Readonly<Record<SourceKind, () => Promise<OpenSourceOf>>> = {
  scan: async () => (await import("./scan.ts")).openScan,
  openapi: async () => (await import("./openapi.ts")).openOpenAPI,
  mcp: async () => (await import("./mcp.ts")).openMCP,
  remote: async () => (await import("./remote.ts")).openRemote,
}

/** Opens a source of any kind. */
export const openSource: OpenSourceOf = async (source, context) => {
  const open = await OPENERS[source.kind]()
  context.signal.throwIfAborted()
  return await open(source, context)
}
