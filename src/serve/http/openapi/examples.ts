import type { JsonObject } from "./model.ts"

/** Whether tools can take an example: they read `$ref` and `$id` as their own words, even in data. */
export function isShowable(example: unknown): boolean {
  return !/"\$(?:ref|id)":/.test(JSON.stringify(example) ?? "")
}

/** Examples by name, as OpenAPI has them; those that are not there keep their number. */
export function namedExamples(examples: readonly unknown[]): JsonObject | undefined {
  const named = examples.flatMap((value, index) =>
    value === undefined ? [] : [[`example${index + 1}`, { value }]],
  )
  return named.length === 0 ? undefined : (Object.fromEntries(named) as JsonObject)
}
