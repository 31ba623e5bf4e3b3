import { parsePointer, valueAt } from "../../../internal/pointer.ts"
import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import { CallError } from "../../../core/errors.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import { AFTER_ITEM, CURSORS, FLAGS, NEXT_URLS, OFFSETS, PAGES } from "./conventions.ts"
import { fitInput, readInput, withInput } from "./inputs.ts"
import type { InputTarget, PageInput, PageInputs } from "./inputs.ts"
import { inputOfUrl, isAddress, linkOf } from "./link.ts"

/** A page and its request. */
export interface PageRead {
  readonly envelope: ResponseEnvelope
  readonly input: PageInput
  readonly inputs: PageInputs
  readonly operationId: string
  /** JSON pointer to the list in a page. */
  readonly items?: string | undefined
}

/** The next input; "end" after the last page; `undefined` if the strategy does not apply. */
export type Step = PageInput | "end" | undefined
export type Strategy = (page: PageRead) => Step

/** The pagination rule of the options or the document. */
export interface PageRule {
  /** Use only this strategy; `"url"` is an address in the body. */
  readonly by?: "link" | "url" | "cursor" | "page" | "offset" | undefined
  /** From a place in the response (JSON pointer) to an input (key, or pointer such as `/body/after`). */
  readonly cursor?: { readonly from: string; readonly to: string } | undefined
  /** JSON pointer to the address of the next page in a response. */
  readonly nextUrl?: string | undefined
  /** The input with the page number. */
  readonly page?: string | undefined
  /** The input with the number of skipped items. */
  readonly offset?: string | undefined
  /** JSON pointer to the list of items in a page, for `page` and `offset`. */
  readonly items?: string | undefined
}

/** A strategy; one that counts must notice when the server ignores the number. */
export interface Candidate {
  readonly strategy: Strategy
  readonly counts: boolean
}

/** The strategies that a rule allows, in the order in which they are tried. */
export function candidatesOf(rule: PageRule): readonly Candidate[] {
  const { by, cursor, nextUrl, page, offset } = rule
  const url = byNextUrl(nextUrl === undefined ? undefined : [nextUrl])
  const token = cursor === undefined ? byKnownCursor : byCursor(cursor.from, cursor.to)
  const all = {
    link: { strategy: byLink, counts: false },
    url: { strategy: url, counts: false },
    cursor: { strategy: token, counts: false },
    page: { strategy: byPage(page), counts: true },
    offset: { strategy: byOffset(offset), counts: true },
  } as const
  if (by !== undefined) return [all[by]]
  if (cursor !== undefined) return [all.cursor]
  if (nextUrl !== undefined) return [all.url]
  if (page !== undefined) return [all.page]
  if (offset !== undefined) return [all.offset]
  return Object.values(all)
}

/** Follows `Link: <…>; rel="next"`. */
const byLink: Strategy = ({ envelope, input, inputs, operationId }) => {
  const header = envelope.meta.source === "http" ? envelope.meta.headers?.["link"] : undefined
  if (header === undefined) return undefined
  const url = linkOf(header, "next")
  return url === undefined ? "end" : inputOfUrl(url, input, inputs, operationId)
}

/** Follows an address in the body: at a common place, or at the given pointers. */
function byNextUrl(pointers: readonly string[] = NEXT_URLS): Strategy {
  return ({ envelope: { data }, input, inputs, operationId }) => {
    const urls = pointers.map((pointer) => at(data, pointer))
    const url = urls.find((one) => typeof one === "string" && isAddress(one))
    if (typeof url === "string") return inputOfUrl(url, input, inputs, operationId)
    return undefined
  }
}

/** Passes a cursor from a place in the response to an input. */
function byCursor(from: string, to: string): Strategy {
  return ({ envelope, input, inputs }) => {
    const value = at(envelope.data, from)
    return isCursor(value) ? give(input, inputs.named(to), value) : "end"
  }
}

/** Looks for a cursor at common places, and for the input that takes it. */
const byKnownCursor: Strategy = (page) => {
  const { data } = page.envelope
  const more = moreOf(data)
  let isKnown = false
  for (const [from, names] of CURSORS) {
    const value = at(data, from)
    if (value === undefined || (typeof value === "string" && isAddress(value))) continue
    const target = page.inputs.find(names)
    if (target === undefined) continue
    if (isCursor(value) && more !== false) return give(page.input, target, value)
    isKnown = true
  }
  return isKnown ? "end" : byLastItem(page, more)
}

// Stripe and OpenAI: the response has a flag, and the last item's id is the cursor.
function byLastItem({ envelope, input, inputs, items }: PageRead, more: boolean | undefined): Step {
  const target = more === undefined ? undefined : inputs.find(AFTER_ITEM)
  if (target === undefined) return undefined
  const last = itemsOf(envelope.data, items)?.at(-1)
  const id = at(envelope.data, "/last_id") ?? (isRecord(last) ? getOwn(last, "id") : undefined)
  return more === true && isCursor(id) ? give(input, target, id) : "end"
}

/** Counts pages until one is empty. */
function byPage(key?: string): Strategy {
  return (page) => {
    const target = key === undefined ? page.inputs.find(PAGES) : page.inputs.named(key)
    if (target === undefined) return undefined
    const current = numberAt(page, target, 1)
    const { data } = page.envelope
    if (listOf(page).length === 0 || moreOf(data) === false) return "end"
    const count = firstNumber(data, PAGE_COUNTS)
    if (count !== undefined && current >= count) return "end"
    return give(page.input, target, current + 1)
  }
}

/** Counts items until a page is empty. */
function byOffset(key?: string): Strategy {
  return (page) => {
    const target = key === undefined ? page.inputs.find(OFFSETS) : page.inputs.named(key)
    if (target === undefined) return undefined
    const { data } = page.envelope
    const first = numberAt({ ...page, input: {} }, target, 0)
    const { length } = listOf(page)
    const next = numberAt(page, target, 0) + length
    if (length === 0 || moreOf(data) === false) return "end"
    const total = firstNumber(data, TOTALS)
    if (total !== undefined && next - first >= total) return "end"
    return give(page.input, target, next)
  }
}

function give(input: PageInput, target: InputTarget, value: string | number): PageInput {
  return withInput(input, target, fitInput(value, target))
}

function isCursor(value: unknown): value is string | number {
  return (typeof value === "string" && value !== "") || Number.isFinite(value)
}

function moreOf(data: unknown): boolean | undefined {
  const flag = FLAGS.map((pointer) => at(data, pointer)).find((one) => typeof one === "boolean")
  return typeof flag === "boolean" ? flag : undefined
}

/** The number of the requested page: from the input, or the schema's default. */
function numberAt({ input }: PageRead, target: InputTarget, usual: number): number {
  const { view } = target
  for (const value of [readInput(input, target), view.first("default")]) {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
    if (typeof number === "number" && Number.isFinite(number)) return number
  }
  const minimum = view.first("minimum")
  return minimum === 0 || minimum === 1 ? minimum : usual
}

function listOf({ envelope, items, operationId }: PageRead): readonly unknown[] {
  const list = itemsOf(envelope.data, items)
  if (list !== undefined) return list
  throw new CallError(
    "VALIDATION_ERROR",
    `The pages of "${operationId}" are counted until one is empty, but no list was found in the answer. Set the option "items" to its place, a JSON pointer such as "/results".`,
    { operationId },
  )
}

/** Common names of the list in a page, and places of the numbers of all items and pages. */
const LISTS = ["data", "items", "results", "value", "values", "records", "entries", "list", "hits"]
const TOTALS = [
  ...["/total", "/total_count", "/totalCount", "/totalResults", "/total_results", "/meta/total"],
  ...["/pagination/total", "/@odata.count"],
]
const PAGE_COUNTS = [
  ...["/total_pages", "/totalPages", "/page_count", "/pageCount", "/meta/total_pages"],
  ...["/meta/last_page", "/pagination/total_pages", "/last_page"],
]

/** Finds the list in a page: at a pointer, the page itself, or its only list. */
function itemsOf(data: unknown, pointer: string | undefined): readonly unknown[] | undefined {
  if (pointer !== undefined) return asList(at(data, pointer))
  if (Array.isArray(data)) return data
  if (!isRecord(data)) return undefined
  for (const name of LISTS) {
    const value = getOwn(data, name)
    if (Array.isArray(value)) return value
    if (!isRecord(value)) continue
    for (const inner of LISTS) {
      const list = asList(getOwn(value, inner))
      if (list !== undefined) return list
    }
  }
  const lists = Object.values(data).filter((value) => Array.isArray(value))
  return lists.length === 1 ? asList(lists[0]) : undefined
}

/** The value at a JSON pointer, or under a plain key. */
function at(data: unknown, pointer: string): unknown {
  return valueAt(data, pointer.startsWith("/") ? (parsePointer(pointer) ?? [pointer]) : [pointer])
}

function firstNumber(data: unknown, pointers: readonly string[]): number | undefined {
  for (const pointer of pointers) {
    const value = at(data, pointer)
    if (typeof value === "number") return value
  }
  return undefined
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined
}
