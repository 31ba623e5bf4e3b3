import type { SourceKind } from "../../config/kinds/index.ts"
import type { CommandSource } from "../model.ts"
import { mcp } from "./mcp.ts"
import { openapi } from "./openapi.ts"
import { remote } from "./remote.ts"
import { scan } from "./scan.ts"
import { skills } from "./skills.ts"

/** Each kind of source on the command line. Of an argument without an option, the first that recognises it counts. */
export const COMMAND_SOURCES: Readonly<Record<SourceKind, CommandSource>> = {
  openapi,
  mcp,
  scan,
  remote,
  skills,
}
