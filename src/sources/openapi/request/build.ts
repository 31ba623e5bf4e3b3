import { getOwn, setOwn } from "../../../schema/json.ts"
import type { AppliedAuth, OperationInput, RequestPlan } from "../model.ts"
import type { PreparedRequest } from "../../../http-client/request.ts"
import { writeBody } from "./body.ts"
import { hasHeader, labelledType, writeHeaders } from "./headers.ts"
import { fillPath, joinUrl, writeQuery } from "./path.ts"

/** Options of building a request. */
export interface BuildOptions {
  /** Absolute URL of the chosen server. */
  readonly base: string
  /** The user's choice among the declared content types. */
  readonly contentType?: string | undefined
  /** The user's fixed headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly auth?: AppliedAuth | undefined
}

/**
 * Builds the request of an operation, exactly as the document declares it.
 *
 * Throws `VALIDATION_ERROR` for an invalid input. The URL is always below `base`.
 */
export function buildRequest(
  plan: RequestPlan,
  raw: OperationInput,
  options: BuildOptions,
): PreparedRequest {
  const whole = plan.hasPresets === true ? withPresets(plan, raw, options.headers) : raw
  const input = plan.days === undefined ? whole : withDays(whole, plan.days)
  const filled = fillPath(plan, input)
  const query = writeQuery(plan, input, filled, options.auth)
  const url = joinUrl(plan.id, options.base, filled.path, query)
  const label = labelledType(plan, input)
  const { body, contentType, disposition } = writeBody(plan, input, options.contentType, label)
  const headers = writeHeaders(plan, {
    input,
    contentType,
    hasBody: body !== undefined,
    fixed: options.headers,
    auth: options.auth,
  })
  if (disposition !== undefined) headers["content-disposition"] = disposition
  return { method: plan.method, url, headers, body }
}

/** Converts dates in an input to text. */
function withDays(raw: OperationInput, days: ReadonlySet<string>): OperationInput {
  const input = { ...raw }
  for (const key of days) {
    const value = getOwn(raw, key)
    if (value !== undefined)
      setOwn(input, key, Array.isArray(value) ? value.map(dayOf) : dayOf(value))
  }
  return input
}

function dayOf(value: unknown): unknown {
  const isDay = value instanceof Date && !Number.isNaN(value.getTime())
  return isDay ? value.toISOString().slice(0, "2026-01-31".length) : value
}

/** Adds the presets of missing parameters to an input. */
function withPresets(
  plan: RequestPlan,
  raw: OperationInput,
  headers: BuildOptions["headers"],
): OperationInput {
  const input: Record<string, unknown> = {}
  for (const { key, name, in: location, preset } of plan.parameters) {
    if (preset === undefined) continue
    // Configured headers have priority over the document's presets.
    if (location !== "header" || !hasHeader(headers, name)) setOwn(input, key, preset)
  }
  for (const key of Object.keys(raw)) if (raw[key] !== undefined) setOwn(input, key, raw[key])
  return input
}
