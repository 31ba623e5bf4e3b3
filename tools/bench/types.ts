import { COMPILERS, createTypeApplication, programWith } from "../scripts/lib/type-cost.ts"
import type { Compiler, TypeApplication } from "../scripts/lib/type-cost.ts"
import type { Goal } from "./goals.ts"
import { TYPE_PROGRAMS } from "./type-programs.ts"

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

/** What one program costs, of ours and of the peers. */
export interface ProgramCost {
  readonly program: string
  readonly operations: number
  readonly instantiations: number
  readonly checkSeconds: number
}

/** What the package's types cost compilers. */
export interface TypeResults {
  readonly types: readonly TypeCost[]
  /** Zod operations, each called once. */
  readonly programs: readonly ProgramCost[]
}

const NONE = { operations: 0, calls: 0 }
const ONE = { operations: 1, calls: 1 }
const FIFTY = { operations: 50, calls: 25 }
// Half of its calls are right and half are wrong: fifty of them.
const THOUSAND = { operations: 1000, calls: 25 }

/** Numbers of operations of the programs that are compared with those of the peers. */
const SIZES = [50, 200, 500]

const CHECK_ONLY = { noEmit: true, declaration: false, emitDeclarationOnly: false }

const PEERS = ["@trpc/client", "@trpc/server", "@orpc/client", "@orpc/server"]

/** Compiles programs of several sizes with every compiler that is supported. */
export async function measureTypes(options: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<TypeResults> {
  await using application = await createTypeApplication(PEERS)
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
  const programs: ProgramCost[] = []
  for (const { name, source } of TYPE_PROGRAMS) {
    options.log(`Compiling programs: ${name}`)
    for (const operations of options.isQuick ? SIZES.slice(0, 1) : SIZES) {
      const found = await application.compile("typescript", source(operations), CHECK_ONLY)
      if (found.errors.length > 0) throw new Error(found.errors.join("\n"))
      const { instantiations, checkSeconds } = found
      programs.push({ program: name, operations, instantiations, checkSeconds })
    }
  }
  return { types, programs }
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
export function typeTables({ types, programs }: TypeResults): string[] {
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
  const rows = programs.map(({ program, operations, instantiations, checkSeconds }) =>
    [
      program.padEnd(28),
      String(operations).padStart(10),
      instantiations.toLocaleString("en").padStart(16),
      `${checkSeconds.toFixed(2)} s`.padStart(10),
    ].join(" "),
  )
  const columns = `${"Zod, each called once".padEnd(28)} operations   instantiations      check`
  return [
    `What compilers take for the types\n\n${[head, ...lines].join("\n")}`,
    `What TypeScript 7 takes for the same program\n\n${[columns, ...rows].join("\n")}`,
  ]
}

/** What the package promises. */
export function typeGoals({ types, programs }: TypeResults): Goal[] {
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
    ...programGoals(programs),
  ]
}

/** The object form costs at most what oRPC's router costs, the array form half as much again. */
function programGoals(programs: readonly ProgramCost[]): Goal[] {
  return programs.flatMap(({ program, operations, instantiations }) => {
    const limit = program.startsWith("object") ? 1 : program.startsWith("array") ? 1.5 : undefined
    const peer = programs.find(
      (cost) => cost.program === "oRPC" && cost.operations === operations,
    )?.instantiations
    if (limit === undefined || peer === undefined) return []
    const ratio = instantiations / peer
    return {
      goal: `${program}, ${operations} operations: at most ${limit} times oRPC's instantiations`,
      measured: ratio.toFixed(2),
      isMet: ratio <= limit,
    }
  })
}
