import { defineConfig } from "@alkdev/operations/config"
import { startShop } from "./shop-api.ts"

/** Three sources that need no internet and no keys: `npm start` serves them. */
export default defineConfig(async () => ({
  // Whoever tries it may read every error, and look into every call.
  server: { title: "Demo hub", errors: "expose", record: true },
  sources: {
    // TypeScript: each module of the folder exports operations.
    desk: { scan: "./operations" },

    // A REST API, by its OpenAPI document. This one runs within the demo.
    shop: { openapi: `${await startShop()}/openapi.yaml` },

    // An MCP server, started as a child process.
    notes: {
      mcp: {
        command: process.execPath,
        args: ["--import", "tsx", "notes-server.ts"],
        cwd: import.meta.dirname,
        // What the server says of its tools is believed: those that only read become queries.
        trust: true,
      },
    },
  },
}))
