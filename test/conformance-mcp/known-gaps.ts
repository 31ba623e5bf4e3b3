// Scenarios that the referee scores and that do not pass, each with its reason. This list may only get shorter.

import type { Revision, Side } from "./profiles.ts"

const RESOURCES = "A registry is served as tools; it has no resources."
const PROMPTS = "A registry is served as tools; it has no prompts."
const COMPLETION = "Arguments of prompts and resources are what is completed; there are none."

/** By scenario: why it does not pass. */
export type Gaps = Readonly<Record<string, string>>

const NOT_TOOLS: Gaps = {
  "completion-complete": COMPLETION,
  "resources-list": RESOURCES,
  "resources-read-text": RESOURCES,
  "resources-read-binary": RESOURCES,
  "resources-templates-read": RESOURCES,
  "prompts-list": PROMPTS,
  "prompts-get-simple": PROMPTS,
  "prompts-get-with-args": PROMPTS,
  "prompts-get-embedded-resource": PROMPTS,
  "prompts-get-with-image": PROMPTS,
}

const NOT_TOOLS_2025: Gaps = {
  ...NOT_TOOLS,
  "resources-subscribe": RESOURCES,
  "resources-unsubscribe": RESOURCES,
}

const NOT_TOOLS_2026: Gaps = {
  ...NOT_TOOLS,
  "input-required-result-non-tool-request": PROMPTS,
  caching: "It reads lists of resources and prompts, which a registry does not have.",
}

export const KNOWN_GAPS: Readonly<Record<Side, Readonly<Record<Revision, Gaps>>>> = {
  server: { "2025-11-25": NOT_TOOLS_2025, "2026-07-28": NOT_TOOLS_2026 },
  gateway: {
    "2025-11-25": {
      ...NOT_TOOLS_2025,
      "tools-call-with-logging": "What a server logs stays between it and the gateway.",
    },
    "2026-07-28": {
      ...NOT_TOOLS_2026,
      "input-required-result-capability-check":
        "A server sees what the gateway can be asked, not what each caller of it can.",
    },
  },
  client: { "2025-11-25": {}, "2026-07-28": {} },
}
