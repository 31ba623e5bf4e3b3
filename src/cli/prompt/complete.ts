import { childPointer } from "../../schema/json.ts"
import { collectErrors } from "../../core/validation.ts"
import { assign } from "../input/assign.ts"
import { InputReader } from "../input/read.ts"
import { viewOf } from "../../schema/read/view.ts"
import type { CommandIO } from "../model.ts"
import { styled } from "../output.ts"
import { askField, type Asking } from "./ask.ts"
import { missingFields, type Field } from "./fields.ts"
import { withTerminal, type Terminal } from "./terminal.ts"

/** The values that are offered for an input, with those that are given. */
export type OfferValues = (name: string, given: object) => Promise<readonly string[]>

/** Asks for missing required values, and returns the completed input. */
export async function completeInput(
  value: unknown,
  schema: unknown,
  io: CommandIO,
  offered?: OfferValues,
): Promise<unknown> {
  const view = viewOf(schema)
  const fields = missingFields(value, view)
  if (fields.length === 0) return value
  if (fields.every(({ only }) => only !== undefined)) {
    const target = copyOf(value)
    for (const { label, steps, only } of fields) assign(target, label, steps, only?.value)
    return target
  }
  return await withTerminal(io, (terminal) =>
    askFields(value, fields, schema, terminal, io, offered),
  )
}

/** Asks for fields, and returns a copy of the value with them. */
export async function askFields(
  value: unknown,
  fields: readonly Field[],
  schema: unknown,
  terminal: Terminal,
  io: CommandIO,
  offered?: OfferValues,
): Promise<object> {
  const target = copyOf(value)
  const reader = new InputReader(io)
  const asking: Asking = {
    terminal,
    style: styled(io, io.stderr),
    check: (field, answer) => issueAt(field, answer, target, schema),
    readFile: (name) => reader.file(name, "The file"),
  }
  for (const field of fields) {
    // A server that cannot complete must not stop the question.
    const values = await offered?.(field.label, target).catch(() => [])
    const answer = await askField({ ...field, offered: values }, asking)
    if (answer !== undefined) assign(target, field.label, field.steps, answer)
  }
  return target
}

/** Validates a value at the place of a field; issues elsewhere are ignored. */
function issueAt(
  { steps, label }: Field,
  answer: unknown,
  target: object,
  schema: unknown,
): string | undefined {
  const candidate = copyOf(target)
  assign(candidate, label, steps, answer)
  const place = steps.reduce((pointer, step) => childPointer(pointer, step), "")
  const issue = collectErrors(schema, candidate).find(
    ({ path }) => path === place || path.startsWith(`${place}/`),
  )
  if (issue === undefined) return undefined
  return `${issue.path.slice(place.length)} ${issue.message}`.trim()
}

function copyOf(value: unknown): object {
  return structuredClone(value ?? {})
}
