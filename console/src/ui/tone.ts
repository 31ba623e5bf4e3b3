/** How a badge looks. */
export type Tone = "neutral" | "info" | "good" | "warn" | "bad"
