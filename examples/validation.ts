// #region input
import {
  collectErrors,
  createRegistry,
  defineOperation,
  formatValueErrors,
  FromSchema,
  validateOrThrow,
} from "@alkdev/operations"
import { compileSchema, schemaDiagnostics } from "@alkdev/operations/schemas"
import { Type } from "@alkdev/operations/type"

const search = defineOperation({
  type: "query",
  description: "Searches the web",
  inputSchema: Type.Object({
    query: Type.String(),
    limit: Type.Optional(Type.Integer({ default: 10, maximum: 50 })),
    since: Type.Optional(Type.String({ format: "date" })),
  }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: (input) => input,
})

const lax = createRegistry({ web: { search } })
const strict = createRegistry({ web: { search } }, { formats: true })
const input = { query: "otters", since: "yesterday" }

console.log((await lax.execute("web.search", input)).data)
await strict.execute("web.search", input).catch((error: Error) => console.log(error.message))
await lax
  .execute("web.search", JSON.parse(`{ "query": 7, "limit": "9" }`))
  .catch((error: Error) => console.log(error.message))
// #endregion

// #region from
const Pet = FromSchema(
  {
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "number", minimum: 0, exclusiveMinimum: true },
      owner: { type: "string", nullable: true },
    },
    required: ["name", "age"],
  },
  { dialect: "openapi-3.0" },
)

console.log(collectErrors(Pet, { name: "Rex", age: 3, owner: null }))
console.log(formatValueErrors(collectErrors(Pet, { age: 0, owner: 7 })))
// #endregion

// #region draft
const Point = FromSchema({
  $schema: "http://json-schema.org/draft-07/schema#",
  definitions: { axis: { type: "number" } },
  type: "array",
  items: [{ $ref: "#/definitions/axis" }, { $ref: "#/definitions/axis" }],
  additionalItems: false,
})

console.log(collectErrors(Point, [1, 2]), collectErrors(Point, [1, "2", 3]))
// #endregion

// #region diagnostics
const broken = FromSchema(
  {
    type: "object",
    properties: {
      parent: { $ref: "#/$defs/Missing" },
      slug: { type: "string", pattern: "^(a+)+$" },
    },
  },
  { onDiagnostic: ({ code, path }) => console.log(code, path) },
)
console.log(schemaDiagnostics(broken).map(({ message }) => message))
// #endregion

// #region compile
const settings = compileSchema(
  Type.Object({ port: Type.Optional(Type.Integer({ default: 8080 })) }),
)

console.log(settings.check({ port: 80 }), settings.check({ port: "80" }))
console.log(JSON.stringify(settings["~standard"].validate({})))
console.log(JSON.stringify(settings["~standard"].validate({ port: "80" })))
// #endregion

// #region throw
const config = validateOrThrow(Type.Object({ port: Type.Integer() }), { port: 80 }, "config.json")
console.log(config.port)
try {
  validateOrThrow(Type.Object({ port: Type.Integer() }), { port: 80.5 }, "config.json")
} catch (error) {
  console.log((error as Error).message)
}
// #endregion
