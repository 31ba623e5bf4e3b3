import { CallError } from "../core/errors.ts"
import { jsonOr, selectionOf } from "../core/selection.ts"
import { validateOrThrow } from "../core/validation.ts"
import type { JsonObject, MCPToolDefinition } from "../mcp/model.ts"
import { compileSchema } from "../schema/compiled.ts"
import { pick } from "../schema/read/select.ts"
import { fit, skip, type Cut } from "./fit.ts"
import type { SurfaceCall, SurfaceCaller, SurfaceResult } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import type { OperationTool } from "./tool.ts"
import { SELECT_SCHEMA } from "./select-form.ts"

/** Cuts that a note lists. */
const MAX_PARTS = 5

/** Reads what was left out of a long result. Its bytes must not change: it is part of cached prompts. */
export const READ_RESULT: MCPToolDefinition = {
  name: "read_result",
  title: "Read more of a result",
  description: "Returns what was left out of a result that was too long.",
  inputSchema: {
    type: "object",
    properties: {
      id: { type: "string", description: "The id that came with the result." },
      from: { type: "integer", minimum: 0, default: 0, description: "Where to read on." },
      select: SELECT_SCHEMA,
    },
    required: ["id"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
}

/** A result that fits into the context of a model; what is left out is kept for `read_result`. */
export function fitResult(
  tool: OperationTool,
  result: SurfaceResult,
  { identity, era }: SurfaceCall,
  { maxResultLength: most, kept }: ResolvedSurfaceOptions,
  isSearched: boolean,
): SurfaceResult {
  const { content, structuredContent, isError } = result
  const texts = content.flatMap(({ type, text }) => (type === "text" ? [String(text)] : []))
  if (lengthOf(texts) <= most && !isLonger(structuredContent, most)) return result
  const value = structuredContent ?? (texts.length === 1 ? jsonOr(texts[0] ?? "") : texts)
  const fitted = fit(value, most)
  const [cut] = fitted.cuts
  // The text of a result with structured data may be written by hand.
  if (cut === undefined) return { ...result, content: shortened(result, most) }
  const json = JSON.stringify(value)
  const id = kept.keep(callerOf(identity), { json, path: cut.path })
  const note = { type: "text", text: noteOf(fitted.cuts, 0, id) }
  const others = content.filter(({ type }) => type !== "text")
  const shown = { ...result, content: [textOf(fitted.value), note, ...others] }
  const { structuredContent: _, ...withoutData } = shown
  if (structuredContent === undefined || isSearched) return withoutData
  const complete = { ...shown, structuredContent: fitted.value }
  const schema = tool.servedOutput(era)
  if (isError || schema === undefined || compileSchema(schema).check(fitted.value)) return complete
  // Clients drop a result that does not match the output schema; as an error it reaches the model.
  return { ...withoutData, isError: true }
}

/** Answers a call of `read_result`. Throws a `CallError`. */
export function readResult(
  args: JsonObject,
  { identity }: SurfaceCaller,
  { maxResultLength, kept }: ResolvedSurfaceOptions,
): SurfaceResult {
  validateOrThrow(READ_RESULT.inputSchema, args, `Input for "${READ_RESULT.name}"`)
  const { id, from = 0, select } = args as { id: string; from?: number; select?: unknown }
  const found = kept.find(callerOf(identity), id)
  if (found === undefined) {
    throw new CallError(
      "OPERATION_NOT_FOUND",
      `There is no result "${id.slice(0, 100)}": results are kept for five minutes. Call the operation again, with "select" for fewer fields.`,
    )
  }
  const whole: unknown = JSON.parse(found.json)
  // The result may have been selected from: its schema is not that of the operation.
  const selection = selectionOf(READ_RESULT.name, {}, select)
  const value = selection === undefined ? whole : pick(whole, selection)
  const rest = skip(value, found.path, from)
  const { value: shown, cuts } = fit(rest ?? value, maxResultLength)
  const note = noteOf(cuts, rest === undefined ? 0 : from, id, found.path)
  return { content: [textOf(shown), ...(note === "" ? [] : [{ type: "text", text: note }])] }
}

/** Anonymous callers are one caller; ids cannot be guessed. */
function callerOf(identity: SurfaceCaller["identity"]): string {
  return identity === undefined ? "" : `id:${identity.id}`
}

/** What is there, and how to read the rest. */
function noteOf(
  cuts: readonly Cut[],
  from: number,
  id: string | undefined,
  path: readonly string[] = cuts[0]?.path ?? [],
): string {
  const parts = cuts.map((cut) => {
    const isRead = cut.path.join("\n") === path.join("\n")
    const place = cut.path.length === 0 ? "" : ` of "${cut.path.join(".")}"`
    if (!isRead || from === 0) return `${cut.to} of ${cut.total} ${cut.kind}${place}`
    return `${cut.kind} ${from} to ${from + cut.to - 1} of ${from + cut.total}${place}`
  })
  const main = cuts.find((cut) => cut.path.join("\n") === path.join("\n"))
  if (main === undefined) return from === 0 ? "" : "This is the end of the result."
  const more = parts.length > MAX_PARTS ? `, and ${parts.length - MAX_PARTS} more cuts` : ""
  const next =
    id === undefined
      ? "It is too long to be kept: call again"
      : `Read on with ${READ_RESULT.name} ${JSON.stringify({ id, from: from + main.to })}, or call again`
  return `Too long, shortened to: ${parts.slice(0, MAX_PARTS).join(", ")}${more}. ${next} with "select" for fewer fields.`
}

/** The text blocks of a result, each cut to its share. */
function shortened({ content }: SurfaceResult, most: number): SurfaceResult["content"] {
  let left = most
  return content.map((block) => {
    const { type, text } = block
    if (type !== "text" || typeof text !== "string") return block
    const shown = text.slice(0, left)
    left -= shown.length
    const lost = text.length - shown.length
    return lost === 0 ? block : { ...block, text: `${shown}… (${lost} more characters)` }
  })
}

function textOf(value: unknown): JsonObject {
  return { type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

function isLonger(value: unknown, most: number): boolean {
  return value !== undefined && JSON.stringify(value).length > most
}
