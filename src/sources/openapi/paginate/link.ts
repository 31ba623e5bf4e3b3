import { parseUrl } from "../../../http-client/egress.ts"
import { percentDecoded } from "../../../internal/percent.ts"
import { CallError } from "../../../core/errors.ts"
import { fitInput, readInput, withInput, type PageInput, type PageInputs } from "./inputs.ts"
import { trimEnd } from "../../../internal/trim-end.ts"

const LINK = /<([^<>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]*)/g
const MAX_HEADER = 16_384

/** The address of one relation in a `Link` header (RFC 8288). */
export function linkOf(header: string, relation: string): string | undefined {
  for (const [, url = "", parameters = ""] of header.slice(0, MAX_HEADER).matchAll(LINK)) {
    // Parsed in sequence: the text of a title may look like a relation.
    const rel = [...parameters.matchAll(PARAMETER)].find(([, name]) => /^rel$/i.test(name ?? ""))
    const names = (rel?.[2] ?? "").replaceAll('"', "").toLowerCase().split(/\s+/)
    if (names.includes(relation)) return url.trim()
  }
  return undefined
}

/**
 * Converts the address of the next page to an input.
 *
 * Only declared query parameters are used: the request goes to the same server as all others, with the same
 * credentials, whatever the address says.
 */
export function inputOfUrl(
  url: string,
  input: PageInput,
  inputs: PageInputs,
  operationId: string,
): PageInput {
  // Only path and query are used; the host is a placeholder for relative addresses.
  const next = parseUrl(url, "http://next.invalid/")
  if (next === undefined) throw wrong(operationId, "is not an address")
  if (!isSameResource(next.pathname, inputs.path)) {
    throw wrong(
      operationId,
      `is that of something else: it ends in ${JSON.stringify(lastOf(next.pathname))}`,
    )
  }
  const unknown: string[] = []
  let result = input
  for (const name of new Set(next.searchParams.keys())) {
    const target = inputs.query(name)
    if (target === undefined) {
      unknown.push(name)
      continue
    }
    const values = next.searchParams.getAll(name)
    const before = readInput(input, target)
    // Values that we sent come back as text; ours have the right type.
    if (typeof before === "object" && before !== null) continue
    if (isWrittenAs(before, values.join(","))) continue
    result = withInput(
      result,
      target,
      values.length > 1 ? values : fitInput(values[0] ?? "", target),
    )
  }
  if (result !== input) return result
  throw wrong(
    operationId,
    unknown.length === 0
      ? "asks for the same page again"
      : `differs in ${unknown.map((name) => JSON.stringify(name)).join(", ")} only, which the operation does not take`,
  )
}

/** Whether a text looks like an address instead of a token. */
export function isAddress(text: string): boolean {
  return /^(?:https?:\/\/|\/|\?|\.{1,2}\/)/i.test(text)
}

function isWrittenAs(value: unknown, text: string): boolean {
  if (typeof value === "number" || typeof value === "boolean") return String(value) === text
  return value === text
}

// Some servers link to another path of the same list (GitHub: `/repositories/1/issues`), so only the last
// segment is compared, if the document has a literal one.
function isSameResource(pathname: string, template: string | undefined): boolean {
  if (template === undefined || pathname === "/") return true
  const last = lastOf(template.replace(/[?#].*$/s, ""))
  return last.includes("{") || last === lastOf(pathname)
}

function lastOf(path: string): string {
  return percentDecoded(trimEnd(path, "/").split("/").pop() ?? "")
}

function wrong(operationId: string, issue: string): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `The next page of "${operationId}" cannot be requested: its address ${issue}. Set the option "cursor", "page" or "next".`,
    { operationId, retryable: false, mayHaveExecuted: false },
  )
}
