import { AUDIT } from "../../config/config-shapes.ts"
import type { AuditConfig } from "../../config/model.ts"
import type { OperationRegistry } from "../../engine/registry.ts"
import type { Logger } from "../../internal/logger.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { AuditHead, AuditKey } from "./chain.ts"

/** What an audit log contains, and what happens when it cannot be written. */
export interface AuditOptions extends Omit<AuditConfig, "file" | "key"> {
  /** The secret of the seals, without which no line can be changed undetected. Without a key, the seals detect only accidental damage. */
  readonly key?: AuditKey | undefined
  /**
   * Receives the last line at the start, each minute in which lines were written, and at the end. Keep it elsewhere: it
   * shows whether the end of the log was cut off.
   */
  readonly onHead?: ((head: AuditHead) => void) | undefined
  readonly logger?: Logger | undefined
}

const { file: _, ...CONFIGURED } = AUDIT

export const AUDIT_OPTIONS: OptionsSchema<AuditOptions> = {
  ...CONFIGURED,
  key: { secret: { either: ["text", { methods: ["subarray"], expected: "bytes" }] } },
  onHead: "function",
  logger: "logger",
}

/** An audit log. Close it when you no longer need it. */
export interface Audit extends AsyncDisposable {
  /** The last line that was written. */
  readonly head: AuditHead
  /** Audits the calls of a registry; returns a function that ends it. */
  attach(registry: OperationRegistry): () => void
  /** Writes what is left. Calling it twice is fine. */
  close(): Promise<void>
}
