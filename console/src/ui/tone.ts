import type { SourceStatus } from "../api/model.ts"

/** How a badge looks. */
export type Tone = "neutral" | "info" | "good" | "warn" | "bad"

/** How the state of a source looks. */
export const SOURCE_TONES: Readonly<Record<SourceStatus["state"], Tone>> = {
  loading: "info",
  ready: "good",
  failed: "bad",
  lost: "warn",
  disabled: "neutral",
}
