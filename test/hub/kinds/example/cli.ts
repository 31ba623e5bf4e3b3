import type { CommandSource } from "../../../../src/cli/model.ts"
import type { ExampleSource } from "./config.ts"

export const example: CommandSource<ExampleSource> = {
  option: { value: "word", description: "Greetings with a word" },
  sourceOf: async (word) => ({ example: word }),
  recognises: ({ text }) => text === "Hello",
  consequence: (source, secrets) => `greets with ${source.example}${secrets}`,
  packages: () => ["package-of-greetings"],
}
