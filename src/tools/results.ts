import { mapMCPContentBlocks } from "../mcp/content.ts"
import { DRY_RUN, type MCPEra } from "../mcp/model.ts"
import { toBase64 } from "../internal/base64.ts"
import { hasContentOnly, selectData } from "../core/selection.ts"
import type { MCPResponseMeta, ResponseEnvelope, ResponseMeta } from "../core/envelope.ts"
import { CallError, refusal } from "../core/errors.ts"
import { safeFileName } from "../internal/file-names.ts"
import { isFileLike, readFile, type FileLike } from "../schema/files.ts"
import { fileFieldsOf, withBase64 } from "../schema/file-fields.ts"
import { type JsonSchema, mayBeVoid } from "../schema/json.ts"
import { compileSchema } from "../schema/compiled.ts"
import { isRecord } from "../internal/guards.ts"
import { formatValueErrors, toValueErrors } from "../core/validation.ts"
import { pick, type Selection } from "../schema/read/select.ts"
import type { SurfaceResult } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import type { OperationTool } from "./tool.ts"
import { jsonOf } from "./tool-forms.ts"

type Block = Readonly<Record<string, unknown>>

/** Converts the result of an operation to a tool result. Throws a `CallError` for data without JSON. */
export function resultOf(
  tool: OperationTool,
  envelope: ResponseEnvelope,
  era: MCPEra,
  options: ResolvedSurfaceOptions,
  selection?: Selection,
): SurfaceResult | Promise<SurfaceResult> {
  const { data, meta } = envelope
  const selected = selectData(envelope, selection)
  if (selected.data !== data) return selectedResult(tool, selected, era)
  if (meta.source === "mcp") {
    return tool.raw === undefined
      ? ownBlocks(tool, data, meta, era)
      : handedOn(tool, data, meta, era)
  }
  const bytes = typeof data === "object" && data !== null ? bytesOf(data, meta) : undefined
  if (bytes instanceof Promise) return bytes.then((read) => binaryResult(read, tool))
  if (bytes !== undefined) return binaryResult(bytes, tool)
  const output = tool.output(era)
  if (data === undefined && output === undefined) return { content: [] }
  const json = jsonOf(data)
  if (json === undefined && data !== undefined) {
    const message = `The result has no form in JSON: it is a ${typeof data}.`
    throw new CallError("EXECUTION_ERROR", message)
  }
  const plain = typeof data === "string" ? data : (json ?? "")
  const content = [{ type: "text", text: ownText(tool, data, options) ?? plain }]
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  if (output === undefined) {
    // The result of a tool with an output schema may not be absent; where it is there, it is data all the same.
    const isData = isRecord(value) && mayBeVoid(tool.spec.outputSchema as JsonSchema)
    return { content, ...(isData && { structuredContent: value }) }
  }
  return structured(tool, value, content, output.isWrapped)
}

/** The report of a dry run: not a result, which would have to match the output schema of the tool. */
export function dryResult({ data }: ResponseEnvelope): SurfaceResult {
  const text = `Nothing was called: this was a dry run.\n${JSON.stringify(data)}`
  return { content: [{ type: "text", text }], isError: true, _meta: { [DRY_RUN]: data } }
}

/** The selected members of a result; it is not checked against the output schema, which describes whole ones. */
function selectedResult(
  tool: OperationTool,
  { data, meta }: ResponseEnvelope,
  era: MCPEra,
): SurfaceResult {
  if (meta.source === "mcp" && hasContentOnly(meta)) return { content: blocksOf(meta) }
  const text = jsonOf(data) ?? "null"
  const value = JSON.parse(text) as unknown
  const isWrapped = tool.output(era)?.isWrapped === true
  return {
    content: [{ type: "text", text }],
    structuredContent: isWrapped ? { result: value } : value,
  }
}

/** The selected members of the items of a stream. */
export function selectedItems(
  result: SurfaceResult,
  selection: Selection | undefined,
): SurfaceResult {
  if (selection === undefined || result.isError) return result
  const whole: Selection = new Map<string, Selection>([
    ["items", selection],
    ["isComplete", true],
  ])
  const value = pick(result.structuredContent, whole)
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value }
}

/** Adds structured data if it matches the tool's output schema; otherwise returns an error with both. */
export function structured(
  tool: OperationTool,
  value: unknown,
  content: readonly Block[],
  isWrapped: boolean,
  schema: unknown = withBase64(tool.spec.outputSchema as JsonSchema),
): SurfaceResult {
  const compiled = compileSchema(schema)
  if (value !== undefined && compiled.check(value)) {
    return { content, structuredContent: isWrapped ? { result: value } : value }
  }
  // Clients drop an invalid result as a whole; as an error it reaches the model.
  const issues = formatValueErrors(toValueErrors(compiled.errors(value)).slice(0, 8))
  const text = `OUTPUT_VALIDATION_ERROR: "${tool.id}" ran, but its result is not what its output schema says. The result follows.\n${issues}`
  return { content: [{ type: "text", text }, ...content], isError: true }
}

/** The result of an imported tool, unchanged. */
function handedOn(
  tool: OperationTool,
  data: unknown,
  meta: MCPResponseMeta,
  era: MCPEra,
): SurfaceResult {
  const value = meta.structuredFrom === "text" ? data : meta.structuredContent
  const mustWrap =
    value !== undefined &&
    era === "legacy" &&
    (tool.output(era)?.isWrapped === true || !isRecord(value))
  return {
    content: blocksOf(meta),
    ...(value !== undefined && { structuredContent: mustWrap ? { result: value } : value }),
    ...(meta.isError && { isError: true as const }),
    ...(isRecord(meta._meta) && { _meta: withoutServer(meta._meta) }),
  }
}

/** Removes the server's metadata: this server answers, not the one behind it. */
export function withoutServer(meta: Block): Block {
  const { "io.modelcontextprotocol/serverInfo": _, ...rest } = meta
  return rest
}

/** Content blocks that a local operation returned with its data. */
function ownBlocks(
  tool: OperationTool,
  data: unknown,
  meta: MCPResponseMeta,
  era: MCPEra,
): SurfaceResult {
  const content = blocksOf(meta)
  const extra = isRecord(meta._meta) ? { _meta: meta._meta } : undefined
  if (meta.isError) return { content, isError: true, ...extra }
  const output = tool.output(era)
  if (output === undefined) return { content, ...extra }
  const json = jsonOf(data)
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  return { ...structured(tool, value, content, output.isWrapped), ...extra }
}

function blocksOf(meta: MCPResponseMeta): readonly Block[] {
  return mapMCPContentBlocks(meta.content) as unknown as readonly Block[]
}

function ownText(
  tool: OperationTool,
  data: unknown,
  options: ResolvedSurfaceOptions,
): string | undefined {
  if (options.textResult === undefined) return undefined
  try {
    const text: unknown = options.textResult(data, tool.spec)
    return typeof text === "string" ? text : undefined
  } catch (error) {
    options.logger.error("textResult threw; the text is JSON instead", { tool: tool.id, error })
    return undefined
  }
}

interface Bytes {
  readonly bytes: Uint8Array
  readonly mimeType: string
  readonly name?: string | undefined
}

function bytesOf(data: object, meta: ResponseMeta): Bytes | Promise<Bytes> | undefined {
  const declared = meta.source === "http" ? meta.contentType?.split(";")[0]?.trim() : undefined
  if (isFileLike(data)) return fileBytes(data, declared)
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data
  // As in envelopes: other arrays are data.
  if (!(bytes instanceof Uint8Array)) return undefined
  return { bytes, mimeType: declared || kindOf(bytes) }
}

/** Larger files are not read: no client takes them. */
const MAX_FILE = 64 * 1024 * 1024

async function fileBytes(file: FileLike, declared: string | undefined): Promise<Bytes> {
  const bytes = await readFile(file, MAX_FILE)
  if (bytes === undefined) {
    throw refusal(
      "PAYLOAD_TOO_LARGE",
      `The file has more than ${MAX_FILE} bytes. It can be downloaded over HTTP.`,
      { mayHaveExecuted: true },
    )
  }
  return { bytes, mimeType: file.type || declared || kindOf(bytes), name: file.name }
}

function binaryResult(bytes: Bytes, { id, spec }: OperationTool): SurfaceResult {
  const declared = fileFieldsOf(spec.outputSchema)?.whole?.mediaType
  const isUnknown = bytes.mimeType === "application/octet-stream" && declared !== undefined
  return { content: [binaryBlock(isUnknown ? { ...bytes, mimeType: declared } : bytes, id)] }
}

function binaryBlock({ bytes, mimeType, name }: Bytes, id: string): Block {
  const data = toBase64(bytes)
  if (mimeType.startsWith("image/")) return { type: "image", data, mimeType }
  if (mimeType.startsWith("audio/")) return { type: "audio", data, mimeType }
  const uri = `operation://${id}/${encodeURIComponent(safeFileName(name) ?? "result")}`
  return { type: "resource", resource: { uri, mimeType, blob: data } }
}

const SIGNATURES: readonly (readonly [string, string])[] = [
  ["89504e470d0a1a0a", "image/png"],
  ["ffd8ff", "image/jpeg"],
  ["474946383", "image/gif"],
  ["25504446", "application/pdf"],
  ["4f676753", "audio/ogg"],
  ["494433", "audio/mpeg"],
]

/** Detects the media type of bytes: models see images only with an image type. */
function kindOf(bytes: Uint8Array): string {
  const start = Array.from(bytes.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0"))
  const text = start.join("")
  if (text.startsWith("52494646") && text.slice(16) === "57454250") return "image/webp"
  if (text.startsWith("52494646") && text.slice(16) === "57415645") return "audio/wav"
  const match = SIGNATURES.find(([signature]) => text.startsWith(signature))
  return match?.[1] ?? "application/octet-stream"
}
