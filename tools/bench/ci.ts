/**
 * The benchmark for CI, `npm run bench:ci`: what calls allocate and create, and whether long work blocks the
 * event loop. Nothing here depends on the speed of the machine. It needs the built package, and none of the
 * peers.
 *
 * Tests check what types cost compilers (`test/types/compilers.process.test.ts`), and what users download (`test/package/`).
 *
 * Exits with 1 when a target is missed.
 */
import { orderInputs, quoteInputs } from "./cases.ts"
import { execute, executeWithScopes } from "./contenders/ours.ts"
import { madeGoal } from "./goals.ts"
import type { Goal } from "./goals.ts"
import { madeByCalls } from "./laziness.ts"
import type { DocumentLibrary, Library } from "./library.ts"
import { bytesPerCall, callLoop } from "./measure.ts"
import { manyOperations } from "./scaling.ts"
import { goalsTable } from "./table.ts"

type Built = Library & Pick<DocumentLibrary, "toHTTP">

/** What calls allocate today, plus a small margin. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  "execute, small": 1100,
  "execute, large": 1200,
  "execute, identity and scopes, small": 1300,
  "execute, identity and scopes, large": 1400,
}

const OPERATIONS = 5000
const MIN_TURNS = 5

const built = (file: string): Promise<object> =>
  import(new URL(`../../dist/bundle/${file}`, import.meta.url).href) as Promise<object>
const library = Object.assign({}, await built("index.js"), await built("to-http.js")) as Built

const goals: Goal[] = [
  ...(await byteGoals()),
  madeGoal(await madeByCalls(library)),
  await turnsGoal(),
]
console.log(goalsTable(goals))
if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1

async function byteGoals(): Promise<Goal[]> {
  const found: Goal[] = []
  for (const contender of [execute(library), executeWithScopes(library)]) {
    const { name, small, large } = contender
    for (const [row, run] of [
      [`${name}, small`, callLoop(`${name}, small`, small, quoteInputs)],
      [`${name}, large`, callLoop(`${name}, large`, large, orderInputs)],
    ] as const) {
      // Warm-up: uncompiled code allocates more.
      await run(50_000)
      const bytes = await bytesPerCall({ name: row, run })
      const max = MAX_BYTES[row] ?? 0
      found.push({
        goal: `${row}: at most ${max} bytes a call`,
        measured: bytes.toFixed(0),
        isMet: bytes <= max,
      })
    }
    await contender.close()
  }
  return found
}

/** The number of turns of the event loop while a large document is built. */
async function turnsGoal(): Promise<Goal> {
  await using registry = manyOperations(library, OPERATIONS)
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const response = await library
    .toHTTP(registry)
    .fetch(new Request("http://localhost/openapi.json"))
  await response.arrayBuffer()
  isOver = true
  return {
    goal: `/openapi.json of ${OPERATIONS} operations: others have ${MIN_TURNS} turns meanwhile`,
    measured: String(turns),
    isMet: turns >= MIN_TURNS,
  }
}
