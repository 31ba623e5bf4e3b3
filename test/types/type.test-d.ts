import type * as TypeBox from "typebox"
import { expectTypeOf, test } from "vitest"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { Type } from "../../src/type.ts"
import type { Static, TObject, TSchema, TString } from "../../src/type.ts"

test("Type of the entry is Type of typebox, and so are the types beside it", () => {
  expectTypeOf(Type).toEqualTypeOf<typeof TypeBox.Type>()
  expectTypeOf<TSchema>().toEqualTypeOf<TypeBox.TSchema>()
  expectTypeOf<TObject<{ a: TString }>>().toEqualTypeOf<TypeBox.TObject<{ a: TypeBox.TString }>>()
})

test("Static of what the entry builds is what it is with typebox", () => {
  const Task = Type.Object({ title: Type.String(), hours: Type.Optional(Type.Integer()) })
  const Part = Type.Pick(Task, ["title"])
  const Patch = Type.Partial(Task)

  expectTypeOf<Static<typeof Task>>().toEqualTypeOf<{ title: string; hours?: number }>()
  expectTypeOf<TypeBox.Static<typeof Task>>().toEqualTypeOf<Static<typeof Task>>()
  expectTypeOf<Static<typeof Part>>().toEqualTypeOf<{ title: string }>()
  expectTypeOf<Static<typeof Patch>>().toEqualTypeOf<{ title?: string; hours?: number }>()
})

test("an operation infers its input and result from schemas of the entry", async () => {
  const count = defineOperation({
    namespace: "text",
    name: "count",
    type: "query",
    description: "",
    inputSchema: Type.Object({ text: Type.String() }),
    outputSchema: Type.Object({ words: Type.Integer() }),
    accessControl: { requiredScopes: [] },
    handler: ({ text }) => ({ words: text.length }),
  })
  const registry = createRegistry([count])

  const { data } = await registry.execute("text.count", { text: "one" })
  expectTypeOf(data).toEqualTypeOf<{ words: number }>()
  // @ts-expect-error: "text" is a string
  void registry.execute("text.count", { text: 1 })
})
