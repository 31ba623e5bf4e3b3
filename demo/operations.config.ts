import { defineConfig } from "@alkdev/operations/config"
import { startShop } from "./shop-api.ts"

/** Three sources that need no internet and no keys: `npm start` serves them. */
export default defineConfig(async () => ({
  // Visitors may see every error, and inspect every call.
  server: { title: "Demo hub", errors: "expose", record: true },
  // A person is asked before anything is deleted.
  approvals: [
    {
      match: ["*.clear*", "*.delete*", "*.remove*"],
      decide: "ask",
      reason: "It cannot be undone.",
    },
    { decide: "allow" },
  ],
  sources: {
    // TypeScript: each module of the folder exports operations.
    desk: { scan: "./operations" },

    // A REST API, described by its OpenAPI document. It runs inside the demo.
    shop: { openapi: `${await startShop()}/openapi.yaml` },

    // An MCP server, started as a child process.
    notes: {
      mcp: {
        command: process.execPath,
        args: ["--import", "tsx", "notes-server.ts"],
        cwd: import.meta.dirname,
        // Trusts the annotations of the tools: read-only tools become queries.
        trust: true,
      },
    },
  },
}))
