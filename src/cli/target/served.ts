// Operations that MCP clients use as resources and prompts.

import { CallError } from "../../core/errors.ts"
import { plainText } from "../../internal/plain-text.ts"
import { didYouMean } from "../../internal/suggest.ts"
import { cutText } from "../../internal/message-text.ts"
import { originOf, type ServedAs } from "../../mcp/served-as.ts"
import { parseUriTemplate, type TemplateValue } from "../../mcp/uri-template.ts"
import { viewOf } from "../../schema/read/view.ts"
import { readText } from "../input/text.ts"
import type { OperationSpec } from "../../core/types.ts"
import type { CommandArgs, CommandIO, ListedOperation, Target } from "../model.ts"
import { counted, escapeForTerminal, note, oneLine, print, printJson, styled } from "../output.ts"
import { table } from "../output.ts"
import { openTarget, printFailures } from "./index.ts"

/** A resource or a prompt in a list. */
export type ListedServed = ListedOperation & { readonly mcp: ServedAs }

export interface ServedList {
  readonly items: readonly ListedServed[]
  readonly code: number
}

/** All that is served as one kind. */
async function servedOf(target: Target, as: ServedAs["as"]): Promise<ListedServed[]> {
  const { operations } = await target.list({})
  return operations.filter((one): one is ListedServed => one.mcp?.as === as)
}

/** Lists what is served as one kind, of the namespace that an argument names: `files` has `files-resources`, too. */
export async function listServed(
  as: ServedAs["as"],
  args: CommandArgs,
  io: CommandIO,
): Promise<ServedList> {
  await using target = await openTarget(args, io)
  const all = await servedOf(target, as)
  printFailures(io, target)
  const [namespace] = args.positionals
  const isWanted = ({ id }: ListedServed): boolean =>
    namespace === undefined ||
    [namespace, `${namespace}-${as}s`].some((one) => id.startsWith(`${one}.`))
  const items = all.filter(isWanted)
  return { items, code: items.length === 0 && target.failures.length > 0 ? 1 : 0 }
}

/** Prints a line for each. */
export function printServed(
  { items }: ServedList,
  as: ServedAs["as"],
  args: CommandArgs,
  io: CommandIO,
  cells: (item: ListedServed) => readonly string[],
): void {
  if (args.flag("json")) {
    printJson(io, { [`${as}s`]: items.map(({ mcp, ...rest }) => ({ ...rest, ...mcp })) })
    return
  }
  const isTerminal = io.stdout.isTTY === true
  const { bold, dim } = styled(io)
  const rows = items.map((item) => {
    const [first = "", ...rest] = cells(item).map(escapeForTerminal)
    const words = oneLine(plainText(item.title ?? item.description))
    return isTerminal ? [bold(first), ...rest.map(dim), words] : [first, ...rest, words]
  })
  if (rows.length > 0) {
    const columns = io.stdout.columns ?? 80
    print(io, isTerminal ? table(rows, columns) : rows.map((row) => row.join("\t")).join("\n"))
  }
  if (isTerminal) note(io, counted(items.length, as))
}

/** The name of a prompt: that on its server, or the id of its operation. */
export function nameOfPrompt({ id, mcp }: ListedServed): string {
  return mcp.prompt ?? id
}

/** The id of a prompt, by its name, its id, or the end of one. */
export async function findPrompt(target: Target, name: string): Promise<OperationSpec> {
  const prompts = await servedOf(target, "prompt")
  const named = prompts.filter((one) => nameOfPrompt(one) === name || one.id === name)
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(", ")
    throw unknown(`"${name}" is the name of ${named.length} prompts. Give the id: ${ids}.`)
  }
  const id = named[0]?.id ?? (prompts.some((one) => one.id.endsWith(`.${name}`)) ? name : undefined)
  if (id !== undefined) return await target.find(id)
  const hint = didYouMean(name, prompts.map(nameOfPrompt))
  throw unknown(`There is no prompt "${cutText(name, 200)}".${hint}`)
}

/** A resource and the input of its operation. */
export interface FoundResource {
  readonly spec: OperationSpec
  readonly input: unknown
}

/** The resource of an address: one with that address, or the first template that has it. */
export async function findResource(target: Target, uri: string): Promise<FoundResource> {
  const resources = await servedOf(target, "resource")
  const exact = resources.find(({ mcp }) => mcp.uri === uri)
  if (exact !== undefined && !uri.includes("{")) {
    return { spec: await target.find(exact.id), input: {} }
  }
  for (const { id, mcp } of resources) {
    const template = parseUriTemplate(mcp.uri ?? "")
    const values = typeof template === "string" ? undefined : template.match(uri)
    if (values === undefined) continue
    const spec = await target.find(id)
    return { spec, input: inputOf(spec, values) }
  }
  const known = resources.flatMap(({ mcp }) => mcp.uri ?? [])
  const isTemplate = known.includes(uri)
  throw unknown(
    isTemplate
      ? `"${uri}" is a template: give an address with values in place of the braces.`
      : `There is no resource "${cutText(uri, 200)}".${didYouMean(uri, known)}`,
  )
}

function inputOf(spec: OperationSpec, values: Readonly<Record<string, TemplateValue>>): unknown {
  if (originOf(spec)?.definition !== undefined) return values
  const view = viewOf(spec.inputSchema)
  const read = ([name, value]: readonly [string, TemplateValue]): [string, unknown] => [
    name,
    typeof value === "string" ? readText(value, view.property(name)) : value,
  ]
  return Object.fromEntries(Object.entries(values).map(read))
}

function unknown(message: string): CallError {
  return new CallError("OPERATION_NOT_FOUND", message)
}
