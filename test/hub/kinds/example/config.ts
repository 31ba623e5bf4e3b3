import { field, recordOf, text } from "../../../../src/config/field-checks.ts"
import type { CommonSource, SourceDescription } from "../../../../src/config/kinds/kind.ts"

/** Greetings in one language. */
export interface ExampleSource extends CommonSource {
  readonly example: string
  /** Who is greeted without a name. */
  readonly nobody?: string | undefined
  readonly times?: number | undefined
  readonly words?: Readonly<Record<string, string>> | undefined
  readonly token?: string | undefined
}

export const example: SourceDescription<ExampleSource> = {
  about: "Greetings in one language.",
  example: "greetings",
  fields: {
    example: field({ required: "text" }, "A word to greet with.", { refers: true }),
    nobody: text("Who is greeted without a name.", { refers: true }),
    times: field("count", "How often."),
    words: recordOf("Other words.", text("A word.", { refers: true })),
    token: text("A secret.", { refers: true, secret: true }),
  },
  check({ times, nobody }, keys, report) {
    if (times !== undefined && nobody === undefined) {
      report.error([...keys, "times"], `needs "nobody".`)
    }
  },
  hints: { greeting: `Write "example".` },
  nameOf: (source) => String(source.example).toLowerCase(),
  originOf: (source) => `the word ${source.example}`,
  namespaces: "source",
}
