/** A thread that serves a contender: `thread-start.mjs <contender>`. */
import { parentPort } from "node:worker_threads"
import type { MessagePort } from "node:worker_threads"
import { serveThread } from "./thread.ts"

await serveThread(process.argv[2] ?? "", parentPort as MessagePort)
