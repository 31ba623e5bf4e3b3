import { isSecretName } from "../../../internal/secret-names.ts"
import { getOwn, setOwn } from "../../../schema/json.ts"
import type { AppliedAuth, OperationInput, RequestPlan } from "../model.ts"
import type { CallError } from "../../../core/errors.ts"
import { encodeStrict, invalidInputError, unusableError, withValueName } from "./text.ts"
import { cookieText, serializeCookie, serializeHeader } from "./serialize.ts"

/** The sources of the headers of a request. */
export interface HeaderSources {
  readonly input: OperationInput
  /** The content type of the body, if there is one. */
  readonly contentType: string | undefined
  readonly hasBody: boolean
  /** The user's configured headers. */
  readonly fixed: Readonly<Record<string, string>> | undefined
  readonly auth: AppliedAuth | undefined
}

/** Headers that frame the message: only the platform may set them. */
const FRAMING = new Set([
  ...["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te"],
  ...["trailer", "transfer-encoding", "upgrade"],
])

/** Headers that an input must not set: the host, proxy credentials and undeclared cookies. */
const NOT_FROM_INPUT = new Set([...FRAMING, "cookie", "cookie2", "host", "proxy-authorization"])

/** Why an input cannot set a header or cookie of this name; `undefined` if it can. */
export function refusedName(location: "header" | "cookie", name: string): string | undefined {
  if (!isToken(name)) return `is not a valid ${location} name`
  const isOurs = location === "header" && NOT_FROM_INPUT.has(name.toLowerCase())
  return isOurs ? "belongs to the HTTP client" : undefined
}

/**
 * Writes the headers, names in lower case.
 *
 * Callers may override configured headers, but no credentials: neither those of `auth` nor those among the
 * configured headers. The body determines its content type.
 */
export function writeHeaders(plan: RequestPlan, sources: HeaderSources): Record<string, string> {
  const headers = new Map<string, string>()
  if (plan.accept.length > 0) headers.set("accept", plan.accept.join(", "))
  const parameters = new Map(parameterHeaders(plan, sources))
  for (const [name, value] of parameters) headers.set(name, value)
  for (const [name, value] of Object.entries(sources.fixed ?? {})) {
    refuseName(name, FRAMING, (issue) => unusableError(plan.id, `a header in \`headers\` ${issue}`))
    const key = name.toLowerCase()
    if (!parameters.has(key) || isSecretName(key, "header")) headers.set(key, value)
  }
  if (sources.hasBody) headers.delete("content-type")
  if (sources.contentType !== undefined) headers.set("content-type", sources.contentType)
  for (const [name, value] of Object.entries(sources.auth?.headers ?? {})) {
    headers.set(name.toLowerCase(), value)
  }
  const cookies = cookieHeader(plan, sources, headers.get("cookie"))
  if (cookies !== "") headers.set("cookie", cookies)
  const written: Record<string, string> = {}
  for (const [name, value] of headers) {
    refuseValue(plan, name, value)
    setOwn(written, name, value)
  }
  return written
}

/** The value of a declared `Content-Type` parameter. */
export function labelledType(plan: RequestPlan, input: OperationInput): string | undefined {
  const parameter = plan.parameters.find(
    (each) => each.in === "header" && each.name.toLowerCase() === "content-type",
  )
  const value = parameter === undefined ? undefined : getOwn(input, parameter.key)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** Whether headers contain a name, ignoring case. */
export function hasHeader(
  headers: Readonly<Record<string, string>> | undefined,
  name: string,
): boolean {
  const wanted = name.toLowerCase()
  return Object.keys(headers ?? {}).some((one) => one.toLowerCase() === wanted)
}

function parameterHeaders(
  plan: RequestPlan,
  { input, fixed }: HeaderSources,
): (readonly [string, string])[] {
  return plan.parameters.flatMap((parameter) => {
    if (parameter.in !== "header") return []
    const what = `header parameter "${parameter.key}"`
    const value = getOwn(input, parameter.key)
    const text = withValueName(plan.id, what, () => serializeHeader(parameter, value))
    if (text === undefined) {
      if (parameter.isShared !== true || hasHeader(fixed, parameter.name)) return []
      throw invalidInputError(plan.id, `${what} is required: pass it, or set it in \`headers\``)
    }
    refuseName(parameter.name, NOT_FROM_INPUT, (issue) =>
      invalidInputError(plan.id, `${what} ${issue}`),
    )
    return [[parameter.name.toLowerCase(), text] as const]
  })
}

function cookieHeader(
  plan: RequestPlan,
  sources: HeaderSources,
  fixed: string | undefined,
): string {
  const credentials = sources.auth?.cookies ?? []
  const taken = new Set(credentials.flatMap(([name]) => [name, encodeStrict(name)]))
  const declared = plan.parameters.flatMap((parameter) => {
    if (parameter.in !== "cookie") return []
    return withValueName(plan.id, `cookie parameter "${parameter.key}"`, () =>
      serializeCookie(parameter, getOwn(sources.input, parameter.key)),
    )
  })
  const own = credentials.map(([name, value]) =>
    withValueName(
      plan.id,
      `the credential in cookie "${name}"`,
      () => [name, cookieText(value)] as const,
    ),
  )
  const pairs = [...declared.filter(([name]) => !taken.has(name)), ...own]
  const invalid = pairs.find(([name]) => !isToken(name))
  if (invalid !== undefined) {
    throw invalidInputError(plan.id, `"${invalid[0]}" is not a valid cookie name`)
  }
  return [...(fixed === undefined ? [] : [fixed]), ...pairs.map((pair) => pair.join("="))].join(
    "; ",
  )
}

function refuseName(
  name: string,
  refused: ReadonlySet<string>,
  error: (issue: string) => CallError,
): void {
  if (!isToken(name)) throw error(`has an invalid header name: "${name}"`)
  if (!refused.has(name.toLowerCase())) return
  throw error(`may not set "${name}", which belongs to the HTTP client`)
}

/** Refuses an invalid value; the message does not contain it, since it may be a credential. */
function refuseValue(plan: RequestPlan, name: string, value: unknown): void {
  if (!isToken(name)) throw invalidInputError(plan.id, `"${name}" is not a valid header name`)
  if (typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return
  throw invalidInputError(
    plan.id,
    `the value of header "${name}" has characters that a header cannot carry ` +
      `(line breaks, control characters or characters above U+00FF)`,
  )
}

function isToken(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)
}
