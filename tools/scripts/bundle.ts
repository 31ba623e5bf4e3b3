// Run after the compiler, by `npm run build`: npx tsx tools/scripts/bundle.ts
import { readFile } from "node:fs/promises"
import { bundlePackage } from "./lib/bundle.ts"

const { exports, peerDependencies } = JSON.parse(await readFile("package.json", "utf8")) as {
  exports: Record<string, { readonly types: string } | string>
  peerDependencies: Record<string, string>
}
const entries = Object.values(exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.types.replace(/^\.\/dist\/|\.d\.ts$/g, "")],
)
/** OpenTelemetry finds its SDK through a global of its own, whichever copy of the API asks. */
const VENDORED = ["@noble/hashes", "@opentelemetry/api", "eventsource-parser", "js-yaml"]

await bundlePackage(process.cwd(), {
  entries,
  nodeOnly: ["node"],
  programs: ["cli/bin"],
  // TypeBox's builder has nothing of ours, and little of what is inside the other entries.
  standalone: ["type"],
  small: { start: ["cli/bin"], client: ["http", "tanstack-query", "testing", "worker"] },
  subjects: {
    index: ["index"],
    schemas: ["from-standard-schema", "schemas"],
    serve: ["to-http", "to-mcp", "tools", "websocket"],
    brokers: ["nats", "redis"],
    mcp: ["from-mcp"],
    config: ["config"],
    node: ["node"],
    otel: ["otel"],
  },
  external: [...Object.keys(peerDependencies), "tsx"].filter((name) => !VENDORED.includes(name)),
  vendored: VENDORED,
})
