import { ParseError } from "../../src/internal/located.ts"

/** Returns the `ParseError` that reading throws. */
export function parseErrorOf(read: () => unknown): ParseError {
  try {
    read()
  } catch (thrown) {
    if (thrown instanceof ParseError) return thrown
    throw thrown
  }
  throw new Error("It was read.")
}
