import type { Importer } from "./openapi.ts"

/** Inputs, and the result of the first success of each operation, as JSON Schema. */
export const oas: Importer = {
  name: "oas",
  async load() {
    const { default: Oas } = await import("oas")
    return async (text) => {
      const document = Oas.init(JSON.parse(text) as Record<string, unknown>)
      const made: unknown[] = []
      let outputs = 0
      for (const methods of Object.values(document.getPaths())) {
        for (const operation of Object.values(methods)) {
          const input = operation.getParametersAsJSONSchema()
          const status = operation.getResponseStatusCodes().find((code) => /^2|default/.test(code))
          const output = status === undefined ? null : operation.getResponseAsJSONSchema(status)
          if (output !== null) outputs++
          made.push({ operation, input, output })
        }
      }
      return { made, operations: made.length, outputs }
    }
  },
}
