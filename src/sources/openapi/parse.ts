import { CallError } from "../../core/errors.ts"
import { quote, reasonOf, typeName } from "../../internal/message-text.ts"
import { isRecord } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"
import { reading } from "../../internal/brands.ts"
import { isDeep } from "./size-limits.ts"
import { invalidDocument, positionAt, readYaml, tooDeep, type TextPosition } from "./yaml.ts"

export interface ParseOptions {
  /** Maximum size of a text; 64 MiB. */
  readonly maxBytes?: number | undefined
  /** The subject of messages; "The OpenAPI document". */
  readonly what?: string | undefined
}

const REPLACED =
  " Pass the document as it was published: one whose references were replaced by their targets may contain itself."

/** A parsed OpenAPI document, with warnings about its text. */
export interface ParsedDocument {
  readonly document: Record<string, unknown>
  readonly warnings: string[]
  /** The source was JSON text: no part is shared or circular. */
  readonly isTree: boolean
}

/** A parsed JSON or YAML value, with warnings about its text. */
export interface ParsedText {
  readonly value: unknown
  readonly warnings: string[]
  /** The source was JSON: no part is shared. */
  readonly isTree?: boolean
}

const MAX_BYTES = 64 * 1024 * 1024
// JSON texts up to this size are checked for nesting. For larger ones the check would take 20 % of the parsing
// time, and reading schemas has its own limit.
const CHECKED_TEXT = 256 * 1024
const CHECKED_NODES = 5000
// Parsing YAML takes fifteen times as long as JSON: a larger text that starts with `{` is treated as invalid JSON.
const MAX_RELAXED = 8 * 1024 * 1024

/**
 * Reads an OpenAPI document from text (JSON or YAML), bytes, or an object.
 *
 * An object is returned as it is, neither copied nor changed. Throws a `CallError` with the line and column of
 * a syntax error.
 */
export function parseDocument(source: unknown, options: ParseOptions = {}): ParsedDocument {
  const what = options.what ?? "The OpenAPI document"
  const text = textOf(source, what)
  const parsed: ParsedText =
    text === undefined ? { value: source, warnings: [] } : parseText(text, options)
  const { value, warnings, isTree = false } = parsed
  if (text === undefined && reading(what, () => isDeep(value, CHECKED_NODES))) {
    throw tooDeep(what, REPLACED)
  }
  if (typeof value === "string") {
    throw invalidDocument(
      `${what} is only the text ${JSON.stringify(value.slice(0, 80))}, not a document. Pass its content; ` +
        `to read it from a file or a URL use FromOpenAPIFile or FromOpenAPIUrl.`,
    )
  }
  const warning = reading(what, () => checkIsOpenAPI(value, what))
  if (warning !== undefined) warnings.push(warning)
  return { document: value as Record<string, unknown>, warnings, isTree }
}

/** Parses JSON or YAML: a whole document, or a file that one refers to. */
export function parseText(text: string, options: ParseOptions = {}): ParsedText {
  const what = options.what ?? "The OpenAPI document"
  const maxBytes = options.maxBytes ?? MAX_BYTES
  // A character is at least one byte: good enough for a limit, and free.
  if (text.length > maxBytes) {
    throw new CallError(
      "PAYLOAD_TOO_LARGE",
      `${what} has ${text.length} characters, more than the ${maxBytes} that are read.`,
    )
  }
  const start = startOf(text)
  if (start === text.length) throw invalidDocument(`${what} is empty.`)
  const first = text[start]
  if (first === "<") throw invalidDocument(notMarkup(text.slice(start, start + 200), what))
  if (first !== "{") return readYaml(text, what)
  return readJson(start === 0 ? text : text.slice(start), what)
}

function readJson(text: string, what: string): ParsedText {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    return readRelaxed(text, what, thrown)
  }
  if (text.length <= CHECKED_TEXT && isDeep(value, Infinity)) throw tooDeep(what)
  return { value, warnings: [], isTree: true }
}

// `{openapi: 3.1.0}` is YAML, and so is JSON with `#` comments or trailing commas.
function readRelaxed(text: string, what: string, thrown: unknown): ParsedText {
  const reason = `${what} is not valid JSON: ${reasonOf(thrown)}.`
  const place = positionOf(text, thrown)
  if (text.length > MAX_RELAXED) throw invalidDocument(reason, { cause: thrown })
  try {
    const { value, warnings } = readYaml(text, what)
    return {
      value,
      warnings: [`${what} is not valid JSON (${reasonOf(thrown)}); it was read as YAML.`].concat(
        warnings,
      ),
    }
  } catch (asYaml) {
    // The YAML parser knows the place even if the JSON parser does not report it; its message would be misleading.
    const details = place ?? (asYaml as CallError<string, TextPosition | undefined>).details
    const where =
      details === undefined
        ? ""
        : ` See line ${details.line}, column ${details.column}: ${details.excerpt}`
    throw new CallError("VALIDATION_ERROR", `${reason}${where}`, { cause: thrown, details })
  }
}

function positionOf(text: string, thrown: unknown): TextPosition | undefined {
  const message = reasonOf(thrown)
  const at = /at position (\d+)/.exec(message)?.[1]
  if (at !== undefined) return positionAt(text, Number(at))
  return /end of (?:JSON|data)|Unterminated/.test(message)
    ? positionAt(text, text.length)
    : undefined
}

function textOf(source: unknown, what: string): string | undefined {
  if (typeof source === "string") return source
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return new TextDecoder().decode(source)
  }
  if (typeof source === "object" && source !== null) return undefined
  throw new TypeError(
    `${what} must be an object, or a text in JSON or YAML; got ${typeName(source)}.`,
  )
}

/** The offset of the first character that is neither a byte order mark nor white space. */
function startOf(text: string): number {
  if (text.startsWith("{")) return 0
  const start = text.search(/[^\s\uFEFF]/)
  return start === -1 ? text.length : start
}

function notMarkup(start: string, what: string): string {
  const kind = /^<(?:!doctype\s+html|html|head|body)\b/i.test(start)
    ? "an HTML page"
    : "XML or HTML"
  return (
    `${what} is ${kind}, neither JSON nor YAML. It may be a page about the API or a page to log in; ` +
    `look for the address of the document itself, often ending in "openapi.json" or "openapi.yaml".`
  )
}

const OTHERS: readonly (readonly [string, string])[] = [
  ["swaggerVersion", "a Swagger 1 document; convert it to OpenAPI 3 first"],
  ["asyncapi", "an AsyncAPI document"],
  ["arazzo", "an Arazzo document; pass the OpenAPI document that it describes the use of"],
  ["overlay", "an OpenAPI overlay; pass the document that it is made for"],
  ["$schema", "a JSON Schema"],
  ["item", "a Postman collection; export it as OpenAPI first"],
  ["__schema", "a GraphQL schema"],
]

/**
 * Checks that a document is OpenAPI in a supported version, and throws if it is not. Returns a warning if the version
 * is not declared exactly.
 */
function checkIsOpenAPI(document: unknown, what: string): string | undefined {
  if (!isRecord(document)) {
    throw invalidDocument(
      `${what} must be an object with "openapi" or "swagger"; it is ${typeName(document)}.`,
    )
  }
  const openapi = getOwn(document, "openapi")
  const swagger = getOwn(document, "swagger")
  if (openapi !== undefined) return checkOpenAPI(openapi, what)
  if (swagger !== undefined) return checkSwagger(swagger, what)
  const other = OTHERS.find(([key]) => Object.hasOwn(document, key))
  throw invalidDocument(
    other === undefined
      ? `${what} has neither "openapi" (such as "3.1.0") nor "swagger" ("2.0"), so it is not an OpenAPI document.`
      : `${what} is ${other[1]}: it has "${other[0]}", but neither "openapi" nor "swagger".`,
  )
}

function checkOpenAPI(declared: unknown, what: string): string | undefined {
  const text = versionText(declared)
  const [, major, minor] = /^v?(\d+)(?:\.(\d+))?(?![\d])/.exec(text) ?? []
  if (major !== "3") {
    throw invalidDocument(
      `${what} has "openapi": ${quote(declared)}. Versions 3.0, 3.1 and 3.2 are supported, and "swagger": "2.0".`,
    )
  }
  if (minor === undefined) return `${what} has "openapi": ${quote(declared)}; it is read as 3.0.`
  if (["0", "1", "2"].includes(minor)) return undefined
  return `${what} is of OpenAPI ${quote(declared)}, which is newer than 3.2; it is read as 3.2.`
}

function checkSwagger(declared: unknown, what: string): undefined {
  if (/^2(?:\.0)*$/.test(versionText(declared))) return undefined
  throw invalidDocument(
    `${what} has "swagger": ${quote(declared)}; only "2.0" is supported. Later versions are declared with "openapi".`,
  )
}

// YAML parses `openapi: 3.1` as a number, and `3.10` as the same number.
function versionText(declared: unknown): string {
  if (typeof declared === "number" && Number.isInteger(declared)) return `${declared}.0`
  return typeof declared === "number" || typeof declared === "string" ? String(declared).trim() : ""
}
