/** Whether tools can take an example: they read `$ref` and `$id` as their own words, even in data. */
export function isShowable(example: unknown): boolean {
  return !/"\$(?:ref|id)":/.test(JSON.stringify(example) ?? "")
}
