import type { SourceKind } from "../../config/kinds/index.ts"
import type { HubSource } from "../model.ts"
import { mcp } from "./mcp.ts"
import { openapi } from "./openapi.ts"
import { remote } from "./remote.ts"
import { scan } from "./scan.ts"
import { skills } from "./skills.ts"

/** How a hub opens each kind of source. Each loads its part of the library when it is used. */
export const HUB_SOURCES: Readonly<Record<SourceKind, HubSource>> = {
  scan,
  openapi,
  mcp,
  remote,
  skills,
}
