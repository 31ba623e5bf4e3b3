import type { Steps } from "./model.ts"
import type { SchemaNode } from "./schema-nodes.ts"

const TOKENS = /"\$ref":"\\u0001(\d+)"/g

/**
 * Finds equal nodes: equal names, equal content, and references to equal nodes.
 *
 * Returns for each node the first equal one. This handles loops: nodes that look alike count as
 * equal until a reference distinguishes them.
 */
export function* mergeNodes(nodes: readonly SchemaNode[]): Steps<number[]> {
  const references: number[][] = []
  const texts: string[] = []
  for (const { wanted, body } of nodes) {
    const own: number[] = []
    const text = JSON.stringify(body).replaceAll(TOKENS, (_, index: string) => {
      own.push(Number(index))
      return `"$ref":""`
    })
    references.push(own)
    texts.push(`${wanted}\n${text}`)
    yield
  }
  let classes = classesOf(texts)
  for (let count = 0; count !== classes.count;) {
    ;({ count } = classes)
    const { of } = classes
    classes = classesOf(
      references.map((own, index) => `${of[index]}:${own.map((one) => of[one]).join()}`),
    )
    yield
  }
  const first = new Map<number, number>()
  return classes.of.map((one, index) => {
    const firstIndex = first.get(one)
    if (firstIndex === undefined) first.set(one, index)
    return firstIndex ?? index
  })
}

/** Assigns numbers to keys: equal keys get equal numbers. */
function classesOf(keys: readonly string[]): { of: number[]; count: number } {
  const numbers = new Map<string, number>()
  const of = keys.map((key) => {
    const assigned = numbers.get(key)
    if (assigned === undefined) numbers.set(key, numbers.size)
    return assigned ?? numbers.size - 1
  })
  return { of, count: numbers.size }
}
