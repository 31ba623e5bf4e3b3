import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  COMPILERS,
  createTypeApplication,
  programWith,
  type Compiler,
  type TypeApplication,
} from "../../scripts/lib/type-cost.ts"

let application: TypeApplication

beforeAll(async () => {
  application = await createTypeApplication()
}, 120_000)

afterAll(() => application[Symbol.asyncDispose]())

/** How many instantiations a program costs. It must compile. */
async function costOf(
  compiler: Compiler,
  size: { operations: number; calls: number },
): Promise<number> {
  const { errors, instantiations } = await application.compile(compiler, programWith(size))
  expect(errors).toEqual([])
  return instantiations
}

describe.each(COMPILERS)("types of operations in %s", (compiler) => {
  test("cost little for the first one", { timeout: 240_000 }, async () => {
    expect(await costOf(compiler, { operations: 1, calls: 1 })).toBeLessThan(20_000)
  })

  test("cost little for fifty, each of them called", { timeout: 240_000 }, async () => {
    expect(await costOf(compiler, { operations: 50, calls: 50 })).toBeLessThan(300_000)
  })
})

test(
  "a thousand operations cost no more than ten times a hundred",
  {
    timeout: 240_000,
  },
  async () => {
    const hundred = await costOf("typescript", { operations: 100, calls: 50 })
    const thousand = await costOf("typescript", { operations: 1000, calls: 50 })
    expect(thousand).toBeLessThan(10 * hundred)
  },
)
