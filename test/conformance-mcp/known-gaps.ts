// Scenarios that the referee scores and that do not pass, each with its reason. This list may only get shorter.

import type { Revision, Side } from "./profiles.ts"

/** By scenario: why it does not pass. */
export type Gaps = Readonly<Record<string, string>>

export const KNOWN_GAPS: Readonly<Record<Side, Readonly<Record<Revision, Gaps>>>> = {
  server: { "2025-11-25": {}, "2026-07-28": {} },
  gateway: {
    "2025-11-25": {
      "tools-call-with-logging": "What a server logs stays between it and the gateway.",
    },
    "2026-07-28": {
      "input-required-result-capability-check":
        "A server sees what the gateway can be asked, not what each caller of it can.",
    },
  },
  client: { "2025-11-25": {}, "2026-07-28": {} },
}
