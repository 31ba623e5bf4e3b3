import type { OptionsSchema } from "../internal/options.ts"
import type { WorkerTransportOptions } from "./worker.ts"

export const WORKER_OPTIONS: OptionsSchema<WorkerTransportOptions> = {
  isTrusted: "boolean",
  terminate: "boolean",
}
