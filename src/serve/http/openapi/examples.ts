import type { JsonObject } from "./model.ts"

/** Whether tools can handle an example: they interpret `$ref` and `$id` even in data. */
export function isShowable(example: unknown): boolean {
  return !/"\$(?:ref|id)":/.test(JSON.stringify(example) ?? "")
}

/** Examples by name, as in OpenAPI; missing ones keep their number. */
export function namedExamples(examples: readonly unknown[]): JsonObject | undefined {
  const named = examples.flatMap((value, index) =>
    value === undefined ? [] : [[`example${index + 1}`, { value }]],
  )
  return named.length === 0 ? undefined : (Object.fromEntries(named) as JsonObject)
}
