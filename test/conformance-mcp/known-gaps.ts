// Scenarios that the referee scores and that do not pass, each with its reason. This list may only get shorter.

import type { Revision, Side } from "./profiles.ts"

/** By scenario: why it does not pass. */
export type Gaps = Readonly<Record<string, string>>

export const KNOWN_GAPS: Readonly<Record<Side, Readonly<Record<Revision, Gaps>>>> = {
  server: { "2025-11-25": {}, "2026-07-28": {} },
  gateway: { "2025-11-25": {}, "2026-07-28": {} },
  client: { "2025-11-25": {}, "2026-07-28": {} },
}
