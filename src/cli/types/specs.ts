import type { OperationSpec } from "../../core/types.ts"
import type { Target } from "../model.ts"

/** Maximum concurrent requests to a hub. */
const AT_ONCE = 8

/** The specs of all operations of a target, including internal ones if it has them. */
export async function specsOf(
  target: Target,
  signal: AbortSignal,
): Promise<readonly OperationSpec[]> {
  if (target.specs !== undefined) return await target.specs()
  const { operations } = await target.list({})
  const specs: OperationSpec[] = []
  const ids = operations.map(({ id }) => id)
  const work = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      signal.throwIfAborted()
      specs.push(await target.find(id))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return specs
}
