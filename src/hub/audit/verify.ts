import { CallError } from "../../core/errors.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { type AuditHead, type AuditKey, type AuditProblem, ChainReader, partsOf } from "./chain.ts"

export interface VerifyAuditOptions {
  /** The key that the lines were sealed with. */
  readonly key?: AuditKey | undefined
  /** A last line that was kept elsewhere: the log must contain it. */
  readonly head?: AuditHead | undefined
}

export const VERIFY_AUDIT_OPTIONS: OptionsSchema<VerifyAuditOptions> = {
  key: { secret: { either: ["text", { methods: ["subarray"], expected: "bytes" }] } },
  head: {
    members: {
      seq: { required: { min: 0, whole: true } },
      seal: { required: "string" },
    } satisfies OptionsSchema<AuditHead>,
  },
}

/** Whether an audit log is as it was written. */
export interface AuditReport {
  /** There is no problem. */
  readonly ok: boolean
  readonly lines: number
  readonly head: AuditHead
  /** The last line is not complete: it is being written, or its writer was killed. */
  readonly isTorn: boolean
  /** What was changed, inserted or removed; the first hundred. */
  readonly problems: readonly AuditProblem[]
}

/** Checks the seal of every line of an audit log, in all its files. */
export async function verifyAudit(
  file: string,
  options: VerifyAuditOptions = {},
): Promise<AuditReport> {
  validateOptions("verifyAudit", options, VERIFY_AUDIT_OPTIONS)
  const { key, head } = options
  const reader = new ChainReader(key, head)
  const parts = await partsOf(file)
  if (parts.length === 0) {
    throw new CallError("VALIDATION_ERROR", `There is no audit log "${file}".`, {
      retryable: false,
    })
  }
  for (const { path } of parts) await reader.read(path)
  reader.finish()
  const { problems, lines, torn } = reader
  return { ok: problems.length === 0, lines, head: reader.head, isTorn: torn !== "", problems }
}
