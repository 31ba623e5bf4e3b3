// The kinds of sources. See "Add a kind of source" in docs/contributing.md.

import type { SourceDescription } from "./kind.ts"
import { type MCPSource, mcp } from "./mcp.ts"
import { type OpenAPISource, openapi } from "./openapi.ts"
import { type RemoteSource, remote } from "./remote.ts"
import { type ScanSource, scan } from "./scan.ts"
import { type SkillsSource, skills } from "./skills.ts"

export type SourceConfig = ScanSource | OpenAPISource | MCPSource | RemoteSource | SkillsSource
export type SourceKind = "scan" | "openapi" | "mcp" | "remote" | "skills"

/** Each kind of source, under the name of the field that makes a source one of it. */
export const SOURCES: Readonly<Record<SourceKind, SourceDescription>> = {
  scan,
  openapi,
  mcp,
  remote,
  skills,
}
