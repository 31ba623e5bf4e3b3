import { describe, expect, test } from "vitest"
import { violations } from "./sim/check.ts"
import { live } from "./sim/history.ts"
import { SABOTAGES } from "./sim/sabotages.ts"
import { seedsOf } from "./sim/seeds.ts"

/** How many histories a sabotage has to show itself in. */
const FEW = 200

describe("a guard that is broken on purpose is found out", () => {
  test.each(SABOTAGES)("$name", async (sabotage) => {
    for (const seed of seedsOf(sabotage.mood, FEW)) {
      const found = violations(await live(seed, { sabotage }))
      if (found.some((what) => sabotage.shows.test(what))) return
    }
    expect.unreachable("Nobody noticed.")
  })
})
