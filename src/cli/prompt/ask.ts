import type { SchemaView } from "../../schema/read/view.ts"
import { readText } from "../input/text.ts"
import { jsonText, oneLine, escapeForTerminal, type Style } from "../output.ts"
import type { Field } from "./fields.ts"
import type { Terminal } from "./terminal.ts"

/** Dependencies of prompts. */
export interface Asking {
  readonly terminal: Terminal
  readonly style: Style
  /** Validates the value of a field; returns a message, or `undefined` when it is valid. */
  check(field: Field, value: unknown): string | undefined
  /** Reads the bytes of a file. */
  readonly readFile: (name: string) => Promise<Uint8Array>
}

// Maximum length of a description: some APIs have several pages.
const MAX_DESCRIPTION = 240
// More choices do not fit on a screen; they are typed, with completion.
const MAX_CHOICES = 30

/** Asks for one field until the answer is valid; `undefined` when an optional field is left out. */
export async function askField(field: Field, asking: Asking): Promise<unknown> {
  if (field.only !== undefined) return field.only.value
  const { terminal, style } = asking
  terminal.print(heading(field, style))
  const choices = choicesOf(field.view)
  if (choices !== undefined && choices.length <= MAX_CHOICES) {
    choices.forEach((choice, at) =>
      terminal.print(`  ${at + 1}) ${escapeForTerminal(choice.text)}`),
    )
  }
  const { offered = [] } = field
  if (choices === undefined && offered.length > 0) {
    const shown = offered.slice(0, MAX_CHOICES).join(", ")
    terminal.print(style.dim(`  ${escapeForTerminal(shown)}`))
  }
  for (;;) {
    const answer = isList(field.view)
      ? await askList(field, asking)
      : await askOne(field, choices, asking)
    if (answer === undefined) {
      if (field.view.default !== undefined) return field.view.default.value
      if (!field.isRequired) return undefined
      terminal.print(style.yellow(`  ${escapeForTerminal(field.label)} is required. Ctrl-C stops.`))
      continue
    }
    const issue = "issue" in answer ? answer.issue : asking.check(field, answer.value)
    if (issue === undefined && "value" in answer) return answer.value
    terminal.print(style.yellow(`  ${escapeForTerminal(issue ?? "")}`))
  }
}

type Answer = { readonly value: unknown } | { readonly issue: string } | undefined

async function askOne(
  { view, offered }: Field,
  choices: readonly Choice[] | undefined,
  { terminal, readFile }: Asking,
): Promise<Answer> {
  const isHidden = view.text("format") === "password"
  const complete = choices?.map(({ text }) => text) ?? offered
  const line = await terminal.ask(promptFor(view, choices), { isHidden, complete })
  if (line === "") return undefined
  if (choices !== undefined) return chosen(line.trim(), choices)
  if (isYesNo(view)) return yesNo(line)
  if (view.isBinary) return await fileAnswer(line, readFile)
  return { value: isHidden ? line : readText(typed(line, view), view) }
}

async function fileAnswer(line: string, readFile: Asking["readFile"]): Promise<Answer> {
  try {
    return { value: await readFile(line.trim().replace(/^@/, "")) }
  } catch (error) {
    return { issue: (error as Error).message }
  }
}

/**
 * A list is typed item by item; an empty line ends it.
 *
 * A required list without items is an empty list. An optional one is left out; `[]`
 * gives an empty one.
 */
async function askList({ view, isRequired }: Field, { terminal }: Asking): Promise<Answer> {
  const items: unknown[] = []
  for (;;) {
    const item = view.item(items.length)
    const line = await terminal.ask("> ", { complete: choicesOf(item)?.map(({ text }) => text) })
    if (line === "") break
    // The whole list may be typed as JSON.
    const whole = items.length === 0 ? readText(line, view) : undefined
    if (Array.isArray(whole) && line.trim().startsWith("[")) return { value: whole }
    items.push(readText(typed(line, item), item))
  }
  const isLeftOut = items.length === 0 && (!isRequired || view.default !== undefined)
  return isLeftOut ? undefined : { value: items }
}

/** Trims a typed value unless it is text, in which spaces may matter. */
function typed(line: string, view: SchemaView): string {
  return view.types.has("string") ? line : line.trim()
}

interface Choice {
  readonly text: string
  readonly value: unknown
}

function choicesOf(view: SchemaView): readonly Choice[] | undefined {
  const { values } = view
  if (values === undefined || values.length === 0 || isYesNo(view)) return undefined
  return values.map((value) => ({
    value,
    text: typeof value === "string" ? value : jsonText(value),
  }))
}

/** Finds a choice by its number in the list, its value, or an unambiguous prefix. */
function chosen(line: string, choices: readonly Choice[]): Answer {
  const exact = choices.find(({ text }) => text === line)
  if (exact !== undefined) return exact
  const numbered = /^\d{1,4}$/.test(line) ? choices[Number(line) - 1] : undefined
  if (numbered !== undefined) return numbered
  const begun = choices.filter(({ text }) => text.toLowerCase().startsWith(line.toLowerCase()))
  const [only] = begun
  if (only !== undefined && begun.length === 1) return only
  return { issue: `"${line}" is none of them. Type a number from 1 to ${choices.length}.` }
}

function isYesNo(view: SchemaView): boolean {
  const { values } = view
  return values?.length === 2 && values.includes(true) && values.includes(false)
}

/** Reads a yes or no answer. */
export function yesNo(line: string): Answer {
  const word = line.trim().toLowerCase()
  if (["y", "yes", "true"].includes(word)) return { value: true }
  if (["n", "no", "false"].includes(word)) return { value: false }
  return { issue: "Type y or n." }
}

function isList(view: SchemaView): boolean {
  return view.types.has("array") && !view.types.has("string")
}

function heading({ label, view, isRequired }: Field, { bold, dim }: Style): string {
  const description = view.text("description") ?? view.text("title") ?? ""
  const isLeftOut = !isRequired || view.default !== undefined
  const about = [
    kindOf(view),
    ...(isList(view) && isLeftOut ? ["[] for an empty list"] : []),
    ...(isRequired ? [] : ["optional"]),
    ...defaultOf(view),
  ].join(", ")
  const words = description === "" ? "" : ` ${oneLine(description, MAX_DESCRIPTION)}`
  return `${bold(escapeForTerminal(label))}:${words} ${dim(`(${about})`)}`
}

function defaultOf(view: SchemaView): readonly string[] {
  if (view.default === undefined || view.text("format") === "password") return []
  const { value } = view.default
  return [`default ${oneLine(typeof value === "string" ? value : jsonText(value), 60)}`]
}

function kindOf(view: SchemaView): string {
  if (isYesNo(view)) return "yes or no"
  if (choicesOf(view) !== undefined) return "one of these"
  if (isList(view)) return "one a line, an empty line ends"
  if (view.isBinary) return "a file"
  const types = [...view.types].map((type) => NAMES[type] ?? type)
  if (view.text("format") === "password") return "hidden"
  return types.length === 0 ? "any value" : types.join(" or ")
}

const NAMES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  object: "JSON object",
}

function promptFor(view: SchemaView, choices: readonly Choice[] | undefined): string {
  if (isYesNo(view)) return "y/n> "
  return choices === undefined || choices.length > MAX_CHOICES ? "> " : `1-${choices.length}> `
}
