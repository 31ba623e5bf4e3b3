import type { Fuzzer } from "./laws.ts"

/** By name; each is loaded when it is asked for. */
export const FUZZERS: Readonly<Record<string, () => Promise<Fuzzer>>> = {
  openapi: async () => (await import("./openapi.ts")).createOpenAPIFuzzer(),
  patterns: async () => (await import("./patterns.ts")).createPatternFuzzer(),
  config: async () => (await import("./config.ts")).createConfigFuzzer(),
  mcp: async () => (await import("./mcp.ts")).createMCPFuzzer(),
  frames: async () => (await import("./frames.ts")).createFrameFuzzer(),
}
