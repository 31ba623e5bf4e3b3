import { env } from "node:process"
import { violations } from "./check.ts"
import { live } from "./history.ts"
import { scenario } from "./plan.ts"
import type { Mood } from "./plan.ts"
import { print } from "./print.ts"

/** Seeds whose histories once went wrong, each with what it was. They are run first, always. */
export const SEEDS: Readonly<Record<number, string>> = {
  493: "a request ran that had been refused, because its message came twice",
  1032: "a stream without a deadline waited for ever, because nothing was left to pay for a repeat",
  1423: "that nobody is there was found late, because the question was asked anew before each answer",
  1566: "after a restart the first worker that was back was asked, and not the one that serves it",
  1922: "as 493, with a call to several workers",
  9502: "as 1566, on a broker without queues",
  10634:
    "a worker that does not serve it was asked, because the one that does was slower to say so",
}

// More of them: SIM_SEEDS=200000 npx vitest run test/transport/bus/simulation
const COUNT = Number(env["SIM_SEEDS"] ?? 150)
const FIRST = Number(env["SIM_FIRST"] ?? 1)
/** Test files that share them, so that they run side by side, and the pieces of each. */
const FILES = 2
const PIECES = 3

/** The first seeds of the pieces that are one file's, and how many seeds each has. */
export function share(file: number): { readonly firsts: readonly number[]; readonly size: number } {
  const size = Math.ceil(COUNT / FILES / PIECES)
  const firsts = [...range(0, PIECES)].map((piece) => FIRST + (file * PIECES + piece) * size)
  return { firsts, size }
}

/** Numbers from the first on. */
export function* range(first: number, count: number): Generator<number> {
  for (let seed = first; seed < first + count; seed++) yield seed
}

/** Seeds whose histories have a mood, any when it is left out. */
export function* seedsOf(mood: Mood | undefined, count: number): Generator<number> {
  let found = 0
  for (let seed = 1; found < count; seed++) {
    if (mood !== undefined && scenario(seed).mood !== mood) continue
    found++
    yield seed
  }
}

/** What is wrong in the histories of seeds: the first few of them, the first with all that happened in it. */
export async function wrongIn(seeds: Iterable<number>): Promise<string[]> {
  const found: string[] = []
  for (const seed of seeds) {
    const wrong = violations(await live(seed))
    if (wrong.length > 0 && found.length === 0) found.push(await print(seed))
    for (const what of wrong) found.push(`seed ${seed}: ${what}`)
    if (found.length >= 20) break
  }
  return found
}
