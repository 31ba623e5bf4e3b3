import { describe, expect, test } from "vitest"
import { runtimeExports } from "../support/exports.ts"
import { sourceEntries } from "../support/manifest.ts"
import { EXPORTS } from "./exports.ts"

const HINT = "If this change is meant: npx tsx tools/scripts/update-pins.ts"

describe("runtime exports", () => {
  test("every entry of package.json is pinned", () => {
    expect(Object.keys(EXPORTS).toSorted(), HINT).toEqual([...sourceEntries.keys()].toSorted())
  })

  test.each([...sourceEntries])('"%s" (%s) exports what its pin says', async (entry, file) => {
    expect(await runtimeExports(file), HINT).toEqual(EXPORTS[entry])
  })
})
