import { COMPILERS, createTypeApplication, programWith } from "../scripts/lib/type-cost.ts"
import type { Compiler, TypeApplication } from "../scripts/lib/type-cost.ts"
import type { Goal } from "./goals.ts"

/** What one compiler takes for one program. */
export interface TypeCost {
  readonly compiler: Compiler
  readonly operations: number
  readonly calls: number
  readonly instantiations: number
  /** From start to end, the best of several runs. */
  readonly seconds: number
  /** Times a program without operations. */
  readonly ratio: number
}

/** What the package's types cost compilers. */
export interface TypeResults {
  readonly types: readonly TypeCost[]
}

const NONE = { operations: 0, calls: 0 }
const ONE = { operations: 1, calls: 1 }
const FIFTY = { operations: 50, calls: 25 }
// Half of its calls are right and half are wrong: fifty of them.
const THOUSAND = { operations: 1000, calls: 25 }

const CHECK_ONLY = { noEmit: true, declaration: false, emitDeclarationOnly: false }

/** Compiles programs of several sizes with every compiler that is supported. */
export async function measureTypes(options: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<TypeResults> {
  await using application = await createTypeApplication()
  const types: TypeCost[] = []
  for (const compiler of COMPILERS) {
    options.log(`Compiling with ${compiler}`)
    const sizes = [NONE, ONE, FIFTY, ...(compiler === "typescript" ? [THOUSAND] : [])]
    let base: number | undefined
    for (const size of sizes) {
      const cost = await bestOf(options.isQuick ? 1 : 3, application, compiler, size)
      base ??= cost.seconds
      types.push({ compiler, ...size, ...cost, ratio: cost.seconds / base })
    }
  }
  return { types }
}

async function bestOf(
  rounds: number,
  application: TypeApplication,
  compiler: Compiler,
  size: typeof NONE,
): Promise<{ instantiations: number; seconds: number }> {
  let best = Number.POSITIVE_INFINITY
  let count = 0
  for (let round = 0; round < rounds; round += 1) {
    const found = await application.compile(compiler, programWith(size), CHECK_ONLY)
    if (found.errors.length > 0) throw new Error(found.errors.join("\n"))
    best = Math.min(best, found.seconds)
    count = found.instantiations
  }
  return { instantiations: count, seconds: best }
}

/** The costs, as plain text. */
export function typeTables({ types }: TypeResults): string[] {
  const lines = types.map(({ compiler, operations, instantiations, seconds, ratio }) =>
    [
      compiler.padEnd(16),
      String(operations).padStart(10),
      instantiations.toLocaleString("en").padStart(16),
      `${seconds.toFixed(2)} s`.padStart(10),
      `${ratio.toFixed(2)}x`.padStart(8),
    ].join(" "),
  )
  const head = `${"compiler".padEnd(16)} operations   instantiations       time   / none`
  return [`What compilers take for the types\n\n${[head, ...lines].join("\n")}`]
}

/** What the package promises. */
export function typeGoals({ types }: TypeResults): Goal[] {
  const find = (compiler: Compiler, size: typeof NONE): TypeCost | undefined =>
    types.find((cost) => cost.compiler === compiler && cost.operations === size.operations)
  const goalAtMost = (goal: string, measured: number, limit: number, unit: string): Goal => ({
    goal: `${goal}: at most ${limit.toLocaleString("en")} ${unit}`,
    measured: measured.toLocaleString("en", { maximumFractionDigits: 2 }),
    isMet: measured <= limit,
  })
  const seconds = (compiler: Compiler, size: typeof NONE): number =>
    find(compiler, size)?.seconds ?? Number.NaN
  const count = (compiler: Compiler, size: typeof NONE): number =>
    find(compiler, size)?.instantiations ?? Number.NaN
  const old: Compiler = "typescript-5.9"
  return [
    ...COMPILERS.flatMap((compiler) => [
      goalAtMost(`${compiler}, one operation`, count(compiler, ONE), 120_000, "instantiations"),
      goalAtMost(`${compiler}, 50 operations`, count(compiler, FIFTY), 300_000, "instantiations"),
    ]),
    goalAtMost(`${old}, one operation over none`, seconds(old, ONE) - seconds(old, NONE), 1.5, "s"),
    goalAtMost("typescript, 1,000 operations, 50 calls", seconds("typescript", THOUSAND), 3, "s"),
  ]
}
