// Run after the compiler, by `npm run build`: npx tsx tools/scripts/bundle.ts
import { readFile } from "node:fs/promises"
import { bundlePackage } from "./lib/bundle.ts"

const { exports } = JSON.parse(await readFile("package.json", "utf8")) as {
  exports: Record<string, { readonly types: string } | string>
}
const entries = Object.values(exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.types.replace(/^\.\/dist\/|\.d\.ts$/g, "")],
)
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
  vendored: ["@noble/hashes", "@opentelemetry/api", "eventsource-parser", "js-yaml"],
})
