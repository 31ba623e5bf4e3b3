import { expect, test } from "vitest"
import { KNOWN_GAPS } from "./known-gaps.ts"
import { PROFILES, REVISIONS, SIDES } from "./profiles.ts"
import { conformanceRegistry } from "./registry.ts"

test("nothing that has to pass is a known gap", () => {
  for (const side of SIDES) {
    for (const revision of REVISIONS) {
      const gaps = Object.keys(KNOWN_GAPS[side][revision])
      expect(PROFILES[side][revision].filter((name) => gaps.includes(name))).toEqual([])
    }
  }
})

test("the operations that the referee calls work without it", async () => {
  const registry = conformanceRegistry()
  const asked: unknown[] = []
  const { data } = await registry.execute(
    "test.input_required_result_multi_round",
    {},
    {
      requestInput: async ({ key }) => {
        asked.push(key)
        return { action: "accept", content: { name: "Ada", color: "red" } }
      },
    },
  )

  expect(asked).toEqual(["step1", "step2"])
  expect(data).toContain("accept")
  await registry.close()
})
