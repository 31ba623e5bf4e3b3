import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(`${root}test/types/.speed-`)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** How many types the compiler makes for a registry of some operations and fifty calls. */
async function instantiations(operations: number): Promise<number> {
  await writeFile(`${folder}/program.ts`, program(operations))
  await writeFile(
    `${folder}/tsconfig.json`,
    JSON.stringify({ extends: "../../../tsconfig.json", include: ["program.ts"], exclude: [] }),
  )
  const compiler = createRequire(import.meta.url).resolve("typescript/package.json")
  const { stdout } = await run(process.execPath, [
    compiler.replace(/package\.json$/, "bin/tsc"),
    "-p",
    folder,
    "--extendedDiagnostics",
  ])
  return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
}

function program(operations: number): string {
  const names = Array.from({ length: operations }, (_, at) => ({ at, id: `ns${at % 20}.op${at}` }))
  const lines = names.map(
    ({ at }) => `const op${at} = defineOperation({
  namespace: "ns${at % 20}",
  name: "op${at}",
  type: "query",
  description: "",
  inputSchema: Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()), c: Type.Array(Type.Object({ d: Type.Boolean() })) }),
  outputSchema: Type.Object({ id: Type.String(), n: Type.Number() }),
  accessControl: { requiredScopes: [] },
  handler: (input) => ({ id: input.a, n: input.b ?? 0 }),
})`,
  )
  const calls = names
    .filter(({ at }) => at % (operations / 50) === 0)
    .map(
      ({
        at,
        id,
      }) => `export const r${at}: number = (await registry.execute("${id}", { a: "x", c: [] })).data.n
// @ts-expect-error the input misses c
await registry.execute("${id}", { a: "x" })`,
    )
  return [
    `import { Type } from "typebox"`,
    `import { createRegistry, defineOperation } from "../../../src/index.ts"`,
    ...lines,
    `const registry = createRegistry([${names.map(({ at }) => `op${at}`).join(", ")}])`,
    ...calls,
  ].join("\n")
}

test(
  "a thousand operations cost the compiler no more than their share",
  { timeout: 240_000 },
  async () => {
    const hundred = await instantiations(100)
    const thousand = await instantiations(1000)
    // What is there before the first operation is in both; ten times the operations is far from ten times the work.
    expect(hundred).toBeGreaterThan(100_000)
    expect(thousand).toBeLessThan(5 * hundred)
  },
)
