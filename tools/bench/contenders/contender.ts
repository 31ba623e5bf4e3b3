import type { Order, QuoteInput } from "../cases.ts"

/** One way to run the two cases. */
export interface Contender {
  readonly name: string
  readonly small: (input: QuoteInput) => Promise<unknown>
  readonly large: (input: Order) => Promise<unknown>
  /** Extracts the handler's result from the result of a call. */
  data(result: unknown): unknown
  close(): Promise<void>
}
