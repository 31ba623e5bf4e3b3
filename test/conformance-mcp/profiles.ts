// What has to pass, come what may: what a registry needs on each side of the protocol.

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const

export type Revision = (typeof REVISIONS)[number]

/** What is examined. A gateway serves what it has imported from another server. */
export const SIDES = ["server", "gateway", "client"] as const

export type Side = (typeof SIDES)[number]

const TOOLS = [
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-error",
  "tools-call-with-progress",
  "json-schema-2020-12",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
]

const TOOLS_2025 = [
  ...TOOLS,
  "server-initialize",
  "ping",
  "logging-set-level",
  "server-session-lifecycle",
  "tools-call-sampling",
  "tools-call-elicitation",
  "tools-call-with-logging",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
]

const TOOLS_2026 = [
  ...TOOLS,
  "server-stateless",
  "http-header-validation",
  "http-custom-header-server-validation",
  "input-required-result-basic-elicitation",
  "input-required-result-basic-sampling",
  "input-required-result-basic-list-roots",
  "input-required-result-request-state",
  "input-required-result-multiple-input-requests",
  "input-required-result-multi-round",
  "input-required-result-result-type",
  "input-required-result-unsupported-methods",
  "input-required-result-tampered-state",
  "input-required-result-ignore-extra-params",
  "input-required-result-validate-input",
  "input-required-result-missing-input-response",
  "input-required-result-capability-check",
]

/** For a server: everything about tools. For a client: everything but signing in. */
export const PROFILES: Readonly<Record<Side, Readonly<Record<Revision, readonly string[]>>>> = {
  server: { "2025-11-25": TOOLS_2025, "2026-07-28": TOOLS_2026 },
  gateway: { "2025-11-25": TOOLS_2025, "2026-07-28": TOOLS_2026 },
  client: {
    "2025-11-25": [
      "initialize",
      "tools_call",
      "elicitation-sep1034-client-defaults",
      "sse-retry",
      "json-schema-2020-12-preservation",
    ],
    "2026-07-28": [
      "tools_call",
      "request-metadata",
      "sep-2322-client-request-state",
      "http-standard-headers",
      "http-custom-headers",
      "http-invalid-tool-headers",
      "json-schema-ref-no-deref",
      "json-schema-2020-12-preservation",
    ],
  },
}
