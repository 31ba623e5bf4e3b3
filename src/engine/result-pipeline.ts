import type { OperationRecord } from "./record.ts"
import { markInternal } from "../core/error-marks.ts"
import type { Clock } from "../internal/platform.ts"
import type { Logger } from "../internal/logger.ts"
import { isFailedTool, isResponseEnvelope, isToolError } from "../core/envelope.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { NormalizeChange } from "../schema/normalize/report.ts"
import { invalid, toValueErrors, type ValueError } from "../core/validation.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { notify } from "../internal/notify.ts"

/** A result that does not match its schema. */
export interface OutputWarning {
  readonly operationId: string
  /** The call that returned it; `undefined` for the result of a fallback. */
  readonly requestId?: string | undefined
  readonly errors: readonly ValueError[]
}

/** The changes that made a result match its schema; at most 100 are listed. */
export interface NormalizeReport {
  readonly operationId: string
  readonly changes: readonly NormalizeChange[]
}

/** What the pipeline needs from the kernel that runs it. */
export interface PipelineHost {
  readonly clock: Clock
  readonly logger: Logger
  readonly onWarning: ((warning: OutputWarning) => void) | undefined
  readonly onNormalize: ((report: NormalizeReport) => void) | undefined
}

/** The call that a result is of. */
type Requested = { readonly requestId: string } | undefined

/** Minimum time between two log lines about the results of one operation, in milliseconds. */
const WARN_EVERY = 5000

/**
 * Processes a result: detects envelopes, wraps, normalizes and validates.
 *
 * Data that already matches costs one compiled check and a probe, and is returned as the same object.
 * Throws `OUTPUT_VALIDATION_ERROR` if the operation's mode is "strict".
 */
export function processResult(
  record: OperationRecord,
  result: unknown,
  host: PipelineHost,
  call?: Requested,
): ResponseEnvelope {
  if (!isResponseEnvelope(result)) {
    const data = record.outputIsFree ? result : conformToSchema(record, result, host, call)
    return {
      data,
      meta: { source: "local", operationId: record.id, timestamp: wallTimeOf(host.clock) },
    }
  }
  const { data, meta } = result
  // The output schema of an MCP tool does not describe the data of a failure.
  const isFailure = isFailedTool(meta)
  if (record.outputIsFree || (isFailure && (record.isImported || isToolError(meta)))) return result
  const conformed = conformToSchema(record, data, host, call)
  return conformed === data ? result : { data: conformed, meta }
}

const NO_CHANGES: readonly NormalizeChange[] = Object.freeze([])

function conformToSchema(
  record: OperationRecord,
  data: unknown,
  host: PipelineHost,
  call: Requested,
): unknown {
  try {
    if (record.outputPasses(data)) return data
  } catch {
    // Data that cannot be read: the slow path reports why.
  }
  return normalizeAndReport(record, data, host, call)
}

/** The slow path: the data has to be changed or reported. */
function normalizeAndReport(
  record: OperationRecord,
  data: unknown,
  host: PipelineHost,
  call: Requested,
): unknown {
  const { output, normalizer } = record
  const fits = output.check(data)
  let { value, changes } = normalizer?.normalize(data) ?? { value: data, changes: NO_CHANGES }
  let nowFits = changes.length === 0 ? fits : output.check(value)
  // Defaults are not filled in if an API returned something else, such as an error.
  if (!nowFits && record.isImported && record.normalizeMode === "keep") {
    ;({ value, changes } = output.normalizer("convert").normalize(data))
    nowFits = output.check(value)
  }
  if (changes.length === 0) {
    if (!fits) report(record, data, host, call)
    return data
  }
  // Normalizing must not make valid data invalid; if it does, it is undone.
  if (fits && !nowFits) return data
  if (host.onNormalize !== undefined) {
    notify(host.logger, "A result listener threw", () =>
      host.onNormalize?.({ operationId: record.id, changes }),
    )
  }
  if (!nowFits) report(record, value, host, call)
  return value
}

function report(record: OperationRecord, data: unknown, host: PipelineHost, call: Requested): void {
  if (record.outputMode === "off") return
  if (record.outputMode === "strict") {
    const issues = toValueErrors(record.output.errors(data))
    const about = { operationId: record.id }
    // The validation errors may contain data that was not meant for callers, such as the keys of a map.
    throw markInternal(
      invalid("OUTPUT_VALIDATION_ERROR", `Output of "${record.id}"`, issues, about),
    )
  }
  // Listing validation errors costs as much as a thousand checks: only if someone reads the list.
  let found: readonly ValueError[] | undefined
  const errors = (): readonly ValueError[] => (found ??= toValueErrors(record.output.errors(data)))
  warnOfMismatch("Output", record, host, errors, call)
  if (host.onWarning !== undefined) {
    notify(host.logger, "A result listener threw", () =>
      host.onWarning?.({
        operationId: record.id,
        ...(call !== undefined && { requestId: call.requestId }),
        errors: errors(),
      }),
    )
  }
}

/** Logs that an input or a result does not match its schema, now and then for each operation. */
export function warnOfMismatch(
  what: "Input" | "Output",
  record: OperationRecord,
  { clock, logger }: Pick<PipelineHost, "clock" | "logger">,
  errors: () => readonly ValueError[],
  call: Requested,
): void {
  const now = clock.now()
  if (now - record.warnedAt < WARN_EVERY) {
    record.warningsHeld++
    return
  }
  const held = record.warningsHeld
  record.warnedAt = now
  record.warningsHeld = 0
  logger.warn(`${what} does not match its schema`, {
    operationId: record.id,
    ...(call !== undefined && { requestId: call.requestId }),
    errors: errors(),
    ...(held > 0 && { sinceLastWarning: held }),
  })
}
