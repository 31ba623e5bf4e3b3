// What holds whatever a fuzzer feeds, and what fuzzers share.

import type { Random } from "../sources/openapi/fuzz/random.ts"

/** Tries generated cases; the same seed gives the same case. */
export interface Fuzzer extends AsyncDisposable {
  /** Gives a word for how the case ended. Throws an error that says what does not hold. */
  run(seed: number): Promise<string>
  /** The case, for whoever looks into one. */
  show(seed: number): unknown
}

const PROTOTYPES = [Object.prototype, Array.prototype, String.prototype, Function.prototype]
const untouched = PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length)

/** Says which prototype got something that it did not have. */
export function pollution(): string | undefined {
  const index = PROTOTYPES.findIndex((one, at) => Reflect.ownKeys(one).length !== untouched[at])
  if (index === -1 && (Object.prototype as { polluted?: unknown }).polluted === undefined) {
    return undefined
  }
  return `polluted ${Object.prototype.toString.call(PROTOTYPES[index])}`
}

/** Throws where something that has to hold does not. */
export function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

/** An error in one line: what it says, and where it was thrown. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `something that is no error: ${String(error)}`
  const [, where = ""] = /\n\s+at (.*)/.exec(error.stack ?? "") ?? []
  return `${error.name}: ${error.message.slice(0, 300)} (${where.replace(/\(?file:.*\/(src|test)\//, "$1/")})`
}

/** Text with some characters taken out, doubled or replaced. */
export function garble(text: string, random: Random): string {
  let garbled = text
  for (let count = 1 + random.below(4); count > 0; count--) {
    const at = random.below(garbled.length)
    const end = at + random.below(random.once(3) ? 200 : 3)
    const inserted = random.pick([
      "",
      "",
      '"',
      "{",
      "}",
      "[",
      ":",
      ",",
      "\n",
      "- ",
      "&a ",
      "*a ",
      "\ufeff",
      "#",
    ])
    garbled = garbled.slice(0, at) + inserted + garbled.slice(end)
  }
  return garbled
}
