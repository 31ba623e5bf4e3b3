import { defineOperation } from "../../../../src/index.ts"
import type { HubSource } from "../../../../src/hub/model.ts"
import { fill } from "../../../../src/hub/resolve-references.ts"
import type { ExampleSource } from "./config.ts"

export const example: HubSource<ExampleSource> = {
  async open({ name, namespace, config }, { resolve }) {
    const { example: word, nobody = "nobody", times = 1 } = await fill(config, resolve, name)
    const greet = defineOperation({
      namespace,
      name: "greet",
      version: "1.0.0",
      type: "query",
      description: "Greets a person",
      inputSchema: { type: "object", properties: { name: { type: "string" } } },
      outputSchema: { type: "string" },
      accessControl: { requiredScopes: [] },
      handler: (input) => `${word} ${input.name ?? nobody}${"!".repeat(times)}`,
    })
    const item = { id: `${namespace}.greet`, origin: word, status: "kept", notes: [] } as const
    return {
      operations: () => [greet],
      report: () => ({ items: [item], warnings: [] }),
      onChange: () => () => {},
      close: async () => {},
    }
  },
}
