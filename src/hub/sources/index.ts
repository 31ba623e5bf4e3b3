import type { SourceKind } from "../../config/model.ts"
import type { OpenSourceOf } from "../model.ts"
import { openMCP } from "./mcp.ts"
import { openOpenAPI } from "./openapi.ts"
import { openRemote } from "./remote.ts"
import { openScan } from "./scan.ts"

/** Openers by kind. Each loads its part of the library when it is used. */
const OPENERS: Readonly<Record<SourceKind, OpenSourceOf>> = {
  scan: openScan,
  openapi: openOpenAPI,
  mcp: openMCP,
  remote: openRemote,
}

/** Opens a source of any kind. */
export const openSource: OpenSourceOf = (source, context) => OPENERS[source.kind](source, context)
