import { CallError } from "../../core/errors.ts"
import type { ReconnectPolicy } from "../../http-client/reconnect.ts"
import { defer } from "../../internal/defer.ts"
import { plainHeaders } from "../../internal/headers.ts"
import { lazyOperation, type LazyOperation } from "../../core/lazy-operation.ts"
import { allowReferences, createFileLoader, fileUrlOf, platformFS } from "./load-file.ts"
import type { FileReader } from "./load-file.ts"
import { HTTPOperationClient } from "./call.ts"
import type { RequestOptions } from "./config.ts"
import type { HandlerContext } from "./call-limits.ts"
import { OpenAPIDocument } from "./document.ts"
import { MAX_BYTES, loadExternal } from "./files.ts"
import { importDocument } from "./import.ts"
import { createUrlLoader } from "./load-url.ts"
import type { PreparedRequest } from "../../http-client/request.ts"
import type { OperationSource } from "./operation/source.ts"
import { OPENAPI_OPTIONS, OPENAPI_URL_OPTIONS, REQUEST_OPTIONS, validateConfig } from "./options.ts"
import type { OpenAPIConfig, OpenAPIUrlConfig } from "./options.ts"
import { sourceOf, withSource } from "./origin.ts"
import { parseDocument } from "./parse.ts"
import { baseUrlIssue } from "./request/server.ts"
import { withReport, type ImportReport } from "./report.ts"
import { streamItems } from "./stream.ts"
import { isUnencrypted } from "../../internal/unencrypted.ts"
import { isPrivateHost } from "../../internal/private-host.ts"
import { parseUrl } from "../../http-client/egress.ts"
import { resolveFetch } from "../../http-client/public-fetch.ts"
import type { OpenAPIFS } from "../../internal/platform.ts"
import { quote, reasonOf } from "../../internal/message-text.ts"

export type { OpenAPIConfig, OpenAPIUrlConfig } from "./options.ts"

/** An imported operation, ready to be registered; its schemas are created on first use. */
export type ImportedOperation = LazyOperation

/** Imported operations, and a report. */
export type ImportedOperations = ImportedOperation[] & {
  /** Created on first use, together with all schemas. */
  readonly report: ImportReport
}

/** An OpenAPI document as an object. It is not trusted. */
export type OpenAPISpec = object

/** A parameter of an operation in a document. */
export interface OpenAPIParameter {
  name: string
  in: "path" | "query" | "header" | "cookie" | (string & {})
  description?: string
  required?: boolean
  schema?: object
  [key: string]: unknown
}

/** An operation in a document: the object under a path and a method. */
export interface OpenAPIOperation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: (OpenAPIParameter | { $ref: string })[]
  requestBody?: object
  responses?: Record<string, object>
  [key: string]: unknown
}

/** Length of a document that takes more than some milliseconds to parse. */
const LARGE_TEXT = 1024 * 1024
const RECONNECT: ReconnectPolicy = { maxAttempts: 5, delayMs: 1000, maxDelayMs: 30_000 }

/**
 * Imports a document: an object, or JSON or YAML text. Nothing is fetched or read.
 *
 * Throws if it is not an OpenAPI document. An invalid part affects only that part: see `report`.
 */
export function FromOpenAPI(spec: OpenAPISpec | string, config: OpenAPIConfig): ImportedOperations {
  checkConfig("FromOpenAPI", config, OPENAPI_OPTIONS)
  const { maxDocumentBytes: maxBytes, documentUrl } = config
  const { document, warnings, isTree } = parseDocument(spec, { maxBytes })
  const hides = typeof spec !== "string" || hidesProperties(spec)
  const options = { url: documentUrl, hidesProperties: hides, isTree }
  return operationsOf(new OpenAPIDocument(document, options), config, warnings)
}

/**
 * Imports a file, JSON or YAML, and the files under its folder that it refers to.
 *
 * Without `fs` Node's file system is used.
 */
export async function FromOpenAPIFile(
  path: string,
  config: OpenAPIConfig,
  fs?: OpenAPIFS,
): Promise<ImportedOperations> {
  checkConfig("FromOpenAPIFile", config, OPENAPI_OPTIONS)
  if (typeof path !== "string" || path === "") {
    throw new TypeError(`FromOpenAPIFile(path, config): path must be a text, got ${quote(path)}.`)
  }
  if (fs !== undefined && typeof (fs as Partial<OpenAPIFS> | null)?.readFile !== "function") {
    throw new TypeError("FromOpenAPIFile(path, config, fs): fs must have readFile().")
  }
  const reader: FileReader = fs ?? (await platformFS())
  const url = fileUrlOf(path, reader.cwd?.() ?? "/")
  const text = await readFile(reader, path)
  const allow = allowReferences(url, config.allowedReferences)
  const local = createFileLoader(reader, url, config.allowedReferences)
  const remote = createUrlLoader({
    fetch: resolveFetch(config),
    allow: (wanted) => allow(wanted) && !isBlocked(wanted, config),
  })
  return await load(text, url, config, allow, async (wanted) =>
    wanted.startsWith("file:") ? await local(wanted) : await remote(wanted),
  )
}

/** Imports a document from a URL, and the files under the same folder that it refers to. */
export async function FromOpenAPIUrl(
  url: string | URL,
  config: OpenAPIUrlConfig,
): Promise<ImportedOperations> {
  checkConfig("FromOpenAPIUrl", config, OPENAPI_URL_OPTIONS)
  const { href, hostname, origin } = checkUrl(url)
  if (config.blockPrivate === true && isPrivateHost(hostname)) {
    throw new CallError(
      "EGRESS_BLOCKED",
      `FromOpenAPIUrl(url, config): ${origin} is a private address, and "blockPrivate" is set.`,
    )
  }
  const { signal, documentHeaders, maxDocumentBytes } = config
  const headers = documentHeaders && plainHeaders(documentHeaders)
  if (config.insecure !== true) refuseReadable(new URL(href), headers)
  // References and servers are relative to the final address of the document.
  let location = href
  let allow = allowReferences(href, config.allowedReferences)
  const loader = createUrlLoader({
    fetch: resolveFetch(config),
    // The document itself may be redirected within its origin; its references stay in its folder.
    allow: (wanted) =>
      (allow(wanted) || new URL(wanted).origin === origin) && !isBlocked(wanted, config),
    signal,
    maxBytes: maxDocumentBytes,
    headers,
    origin,
    onLoaded: (requested, at) => {
      if (requested === href) location = at
    },
  })
  const text = await loader(href)
  if (location !== href) allow = allowReferences(location, config.allowedReferences)
  return await load(text, location, config, allow, async (wanted) => await loader(wanted))
}

/** Creates the request that a call would send, without sending it. It contains credentials. */
export async function prepareRequest(
  operation: { readonly handler?: unknown },
  input?: unknown,
  options: RequestOptions = {},
): Promise<PreparedRequest> {
  checkConfig("prepareRequest", options, REQUEST_OPTIONS)
  const handler = (operation as { readonly handler?: unknown } | undefined)?.handler
  const source = sourceOf(handler)
  if (source === undefined) {
    throw new TypeError(
      "prepareRequest(operation, input): operation must come from FromOpenAPI, or from a registry: registry.get(id).",
    )
  }
  return await source.context.caller.prepare(source, input, options)
}

function checkConfig(...[caller, config, schema]: Parameters<typeof validateConfig>): void {
  validateConfig(caller, config, schema)
  const issue = config.baseUrl === undefined ? undefined : baseUrlIssue(config.baseUrl)
  if (issue !== undefined) throw new TypeError(`${caller}(): baseUrl ${issue}.`)
}

/** Throws if headers that may contain a credential would be sent unencrypted. */
function refuseReadable(url: URL, headers: Readonly<Record<string, string>> | undefined): void {
  if (headers === undefined || !isUnencrypted(url)) return
  const name = Object.keys(headers).find((one) => !HARMLESS_HEADER.test(one))
  if (name === undefined) return
  throw new CallError(
    "EGRESS_BLOCKED",
    `FromOpenAPIUrl(url, config): the header "${name}" of documentHeaders is not sent to ${url.origin}, ` +
      `because anyone on the network could read it. Use https, or set insecure: true.`,
    { retryable: false },
  )
}

const HARMLESS_HEADER =
  /^(?:accept(?:-\w+)?|user-agent|cache-control|if-none-match|if-modified-since)$/i

/** Whether an address is private as written; the address of a name is checked on connecting. */
function isBlocked(url: string, { blockPrivate }: OpenAPIConfig): boolean {
  return blockPrivate === true && isPrivateHost(new URL(url).hostname)
}

async function load(
  text: string,
  url: string,
  config: OpenAPIConfig,
  allow: (url: string) => boolean,
  loadFile: (url: string) => Promise<string>,
): Promise<ImportedOperations> {
  const what = `The document at ${url.split("?")[0] ?? url}`
  const { maxDocumentBytes, maxFiles } = config
  const { document, warnings, isTree } = parseDocument(text, { maxBytes: maxDocumentBytes, what })
  // Parsing took a turn of the event loop; reading the operations takes another.
  if (text.length > LARGE_TEXT) await new Promise<void>(defer)
  const external = await loadExternal({ document, url, text }, loadFile, allow, {
    files: maxFiles,
    bytes: maxDocumentBytes && Math.max(maxDocumentBytes, MAX_BYTES),
  })
  const whole = new OpenAPIDocument(document, {
    url,
    external: external.documents,
    refused: external.refused,
    hidesProperties: external.documents.size > 0 || hidesProperties(text),
    isTree,
  })
  const all = [...warnings, ...external.warnings]
  return operationsOf(whole, { ...config, documentUrl: url }, all)
}

/** Whether a text contains `readOnly` or `writeOnly`. */
function hidesProperties(text: string): boolean {
  // One search for a rare letter is several times as fast as two for whole words.
  for (let at = text.indexOf("Only"); at >= 0; at = text.indexOf("Only", at + 1)) {
    if (text.endsWith("read", at) || text.endsWith("write", at)) return true
  }
  return false
}

function operationsOf(
  document: OpenAPIDocument,
  config: OpenAPIConfig,
  warnings: readonly string[],
): ImportedOperations {
  const caller = new HTTPOperationClient(config, config.documentUrl)
  const reconnect = config.reconnect === true ? RECONNECT : config.reconnect || undefined
  const result = importDocument(document, config, caller, (source) =>
    withSource(handlerOf(caller, source, reconnect), source),
  )
  return withReport(result.sources.map(lazyOperation), document, result, warnings, config)
}

function handlerOf(
  caller: HTTPOperationClient,
  source: OperationSource,
  reconnect: ReconnectPolicy | undefined,
): OperationSource["handler"] {
  if (source.type === "subscription") {
    return (input: unknown, context: HandlerContext | undefined) =>
      streamItems(caller, source, input, context, reconnect)
  }
  return (input: unknown, context: HandlerContext | undefined) =>
    caller.call(source, input, context)
}

function checkUrl(url: string | URL): URL {
  const parsed = parseUrl(url)
  if (parsed === undefined) {
    throw new TypeError(
      `FromOpenAPIUrl(url, config): ${quote(String(url))} is not an absolute URL.`,
    )
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    throw new TypeError(
      `FromOpenAPIUrl(url, config): only http and https can be loaded, got "${parsed.protocol}". For a file use FromOpenAPIFile.`,
    )
  }
  return parsed
}

async function readFile(fs: FileReader, path: string): Promise<string> {
  try {
    return await fs.readFile(path)
  } catch (cause) {
    const message = `The document ${quote(path)} cannot be read: ${reasonOf(cause)}`
    throw new CallError("UNAVAILABLE", message, { cause, retryable: false })
  }
}
