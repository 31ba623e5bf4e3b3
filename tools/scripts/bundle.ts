// Run after the compiler, by `npm run build`: npx tsx tools/scripts/bundle.ts
import { readFile } from "node:fs/promises"
import { bundleEntries } from "./lib/bundle.ts"

const { exports, bin } = JSON.parse(await readFile("package.json", "utf8")) as {
  exports: Record<string, string>
  bin: Record<string, string>
}
const files = await bundleEntries(process.cwd(), {
  entries: Object.values(exports),
  programs: Object.values(bin),
  // TypeBox's builder has nothing of ours, and little of what is inside the other entries.
  standalone: ["./dist/type.js"],
  copied: [
    "dist/core/call-policy.js",
    "dist/core/envelope-codec.js",
    "dist/core/error-marks.js",
    "dist/core/event-codec.js",
    "dist/core/input-requests.js",
    "dist/core/outer-call.js",
    "dist/core/unread-file.js",
    "dist/engine/options.js",
    "dist/http-client/file-bodies.js",
    "dist/http-client/public-lookup.js",
    "dist/http-client/sse.js",
    "dist/internal/asked-time.js",
    "dist/internal/base64.js",
    "dist/internal/closable.js",
    "dist/internal/file-names.js",
    "dist/internal/import-peer.js",
    "dist/internal/node-builtin.js",
    "dist/internal/option-issues.js",
    "dist/internal/pattern.js",
    "dist/internal/pointer.js",
    "dist/internal/private-host.js",
    "dist/internal/read-later.js",
    "dist/internal/retry-budget.js",
    "dist/internal/same-data.js",
    "dist/internal/streams.js",
    "dist/internal/wait.js",
    "dist/policy/",
    "dist/protocol/pending/options.js",
    "dist/protocol/pending/pending.js",
    "dist/protocol/pending/request-event.js",
    "dist/protocol/pending/stream.js",
    "dist/internal/deadline-timer.js",
    "dist/schema/files.js",
    "dist/transport/http/files.js",
    "dist/transport/http/streams.js",
    "dist/transport/websocket/ws-package.js",
    "node_modules/eventsource-parser/dist/index.js",
  ],
  onDemand: [
    "dist/internal/sha256.js",
    "dist/sources/openapi/options.js",
    "node_modules/@noble/hashes/sha2.js",
    "node_modules/@noble/hashes/_md.js",
    "node_modules/@noble/hashes/_u64.js",
    "node_modules/@noble/hashes/utils.js",
  ],
})
process.stdout.write(`Bundled into ${files.length} files\n`)
