/**
 * Test files that take long for their size: real documents, simulations, fuzzers, load.
 *
 * A whole run starts with them, so that it does not wait for one of them at its end; `npm run test:quick` leaves them out.
 */
export const LONG_TESTS: readonly string[] = [
  "test/bad-input.test.ts",
  "test/console/read/corpus.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/mcp/connection/calls.test.ts",
  "test/mcp/round-trip/asks.test.ts",
  "test/mcp/round-trip/results.test.ts",
  "test/migration/migration.test.ts",
  "test/openapi/callable.test.ts",
  "test/openapi/corpus-behaviours.test.ts",
  "test/openapi/corpus.test.ts",
  "test/openapi/fuzz.test.ts",
  "test/openapi/golden.test.ts",
  "test/openapi/per-caller.test.ts",
  "test/protocol/model.test.ts",
  "test/protocol/simulation.test.ts",
  "test/serve/frameworks/contract.test.ts",
  "test/serve/http/attacks-mcp.test.ts",
  "test/serve/http/load.test.ts",
  "test/serve/http/openapi-way-back.test.ts",
  "test/serve/mcp/attacks-http.test.ts",
  "test/serve/mcp/stdio.test.ts",
  "test/transport/bus/simulation-more.test.ts",
  "test/transport/bus/simulation-sabotage.test.ts",
  "test/transport/bus/simulation.test.ts",
  "test/typegen/documents.test.ts",
]
