import { CallError } from "../../../core/errors.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import { jsonText, listed } from "../../../internal/message-text.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { PageInput, PageInputs } from "./inputs.ts"
import { type Candidate, type PageRead, type PageRule, candidatesOf } from "./strategies.ts"

/** A custom strategy: returns the input of the next page. */
export type NextPage = (envelope: ResponseEnvelope, input: PageInput) => PageInput | undefined

const RULES = ["by", "cursor", "nextUrl", "page", "offset"] as const
const WAYS = ["link", "url", "cursor", "page", "offset"]

/** Finds the input of each next page, and detects repeated pages. */
export class Pager {
  readonly #id: string
  readonly #inputs: PageInputs
  readonly #rule: PageRule
  readonly #custom: NextPage | undefined
  readonly #seen = new Set<string>()
  #candidates: readonly Candidate[]
  #chosen: Candidate | undefined
  #lastPage: string | undefined

  constructor(id: string, inputs: PageInputs, rule: PageRule, custom: NextPage | undefined) {
    this.#id = id
    this.#inputs = inputs
    // Options replace the document's hint completely.
    const hasRule = RULES.some((name) => rule[name] !== undefined)
    const hint = !hasRule && isRecord(inputs.hint) ? (inputs.hint as PageRule) : {}
    this.#rule = { ...(hasRule ? rule : hint), items: rule.items ?? hint.items }
    this.#custom = custom
    if (this.#rule.by !== undefined && !WAYS.includes(this.#rule.by)) {
      throw new TypeError(`paginate(): "by" must be ${listed(WAYS)}.`)
    }
    this.#candidates = candidatesOf(this.#rule)
  }

  /** The input of the page after this one; `undefined` after the last. */
  next(envelope: ResponseEnvelope, input: PageInput): PageInput | undefined {
    if (this.#seen.size === 0) this.#seen.add(jsonText(input) ?? "")
    const next =
      this.#custom === undefined ? this.#decide(envelope, input) : this.#custom(envelope, input)
    if (next === undefined) return undefined
    const key = jsonText(next)
    if (key !== undefined && this.#seen.has(key)) {
      throw this.#repeated("would be one that was read already")
    }
    if (key !== undefined) this.#seen.add(key)
    this.#lastPage = this.#chosen?.counts === true ? jsonText(envelope.data) : undefined
    return next
  }

  /** Throws when the server returns the previous page again. */
  refuseRepeated({ data }: ResponseEnvelope): void {
    if (this.#lastPage === undefined || jsonText(data) !== this.#lastPage) return
    throw this.#repeated("is the same as the one before, so that its number has no effect")
  }

  #decide(envelope: ResponseEnvelope, input: PageInput): PageInput | undefined {
    const { items, by } = this.#rule
    const page: PageRead = { envelope, input, inputs: this.#inputs, operationId: this.#id, items }
    for (const candidate of this.#candidates) {
      const step = candidate.strategy(page)
      if (step === undefined) continue
      // Keep the strategy that worked: when it finds nothing, this was the last page.
      this.#candidates = [candidate]
      this.#chosen = candidate
      return step === "end" ? undefined : step
    }
    if (by === "page" || by === "offset") throw this.#nothingToCount(by)
    return undefined
  }

  #repeated(issue: string): CallError {
    return new CallError(
      "EXECUTION_ERROR",
      `The next page of "${this.#id}" ${issue}. Reading stopped: it would never end.`,
      { operationId: this.#id, retryable: false },
    )
  }

  #nothingToCount(by: "page" | "offset"): CallError {
    return new CallError(
      "VALIDATION_ERROR",
      `Operation "${this.#id}" has no input that is known to count by ${by}. Name it with the option "${by}".`,
      { operationId: this.#id },
    )
  }
}
