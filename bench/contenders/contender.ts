import type { Order, QuoteInput } from "../cases.ts"

/** One way to run the two cases. */
export interface Contender {
  readonly name: string
  readonly small: (input: QuoteInput) => Promise<unknown>
  readonly large: (input: Order) => Promise<unknown>
  /** The handler's result inside what a call gave. */
  data(result: unknown): unknown
  close(): Promise<void>
}
