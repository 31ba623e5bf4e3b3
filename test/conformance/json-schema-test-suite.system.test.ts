import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import {
  FromSchema,
  type FromSchemaOptions,
  schemaDiagnostics,
} from "../../src/schema/from-schema.ts"
import { compileValidator } from "../../src/schema/validator.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import { KNOWN_GAPS } from "./known-gaps.ts"
import { hasSuite, suiteDocuments, suiteGroups } from "./suite.ts"

const DRAFTS = [
  ["draft2020-12", {}],
  ["draft7", { dialect: "draft-07" }],
] as const

if (!hasSuite) {
  // oxlint-disable-next-line no-console -- a skip that nobody notices would be worse
  console.warn(
    "The JSON Schema Test Suite is not there (shared/corpus/json-schema-test-suite beside the repository): its tests are skipped.",
  )
}

test("the official suite is there when it has to be", () => {
  expect(hasSuite || !process.env["CI"], "CI runs the official suite; fetch it").toBe(true)
})

describe.runIf(hasSuite).each(DRAFTS)("JSON Schema Test Suite, %s", (draft, dialect) => {
  const documents = hasSuite ? suiteDocuments() : {}
  const groups = hasSuite ? suiteGroups(draft) : []
  const files = new Set(groups.map(({ file }) => file))

  test.each([...files])("%s", (file) => {
    const wrong: string[] = []
    for (const group of groups.filter((candidate) => candidate.file === file)) {
      const diagnostics: unknown[] = []
      const options: FromSchemaOptions = {
        ...dialect,
        documents,
        onDiagnostic: (found) => diagnostics.push(found),
      }
      const schema = FromSchema(group.schema, options)
      expect(diagnostics, group.description).toEqual([])
      expect(schemaDiagnostics(schema)).toEqual([])
      const validator = compileValidator(schema as JsonSchema)
      for (const { description, data, valid } of group.tests) {
        const name = `${group.description}: ${description}`
        const passed = validator.check(data)
        const issues = validator.errors(data)
        expect(issues.length === 0, `${name}: check and errors agree`).toBe(passed)
        expect(issues.map(({ keyword }) => keyword).includes("schema"), `${name}: a reason`).toBe(
          false,
        )
        const gap = KNOWN_GAPS.find(
          (known) =>
            known.draft === draft &&
            known.file === file &&
            known.group === group.description &&
            known.test === description,
        )
        if (gap === undefined && passed !== valid) wrong.push(name)
        if (gap !== undefined && passed === valid) {
          wrong.push(`${name} passes now: remove it from known-gaps.ts`)
        }
      }
    }
    expect(wrong).toEqual([])
  })

  test("TypeBox's own compiler gives the same answers, apart from formats", () => {
    const wrong: string[] = []
    for (const group of groups) {
      if (group.file === "format.json" || group.file === "vocabulary.json") continue
      const schema = FromSchema(group.schema, { ...dialect, documents })
      const validator = Compile(schema)
      for (const { description, data, valid } of group.tests) {
        if (validator.Check(data) !== valid) wrong.push(`${group.description}: ${description}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

test.runIf(hasSuite)("every known gap names a test that exists", () => {
  for (const gap of KNOWN_GAPS) {
    const group = suiteGroups(gap.draft).find(
      ({ file, description }) => file === gap.file && description === gap.group,
    )
    expect(group?.tests.map(({ description }) => description)).toContain(gap.test)
  }
})
