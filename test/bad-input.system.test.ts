import fc from "fast-check"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import * as api from "../src/index.ts"
import * as schemas from "../src/schemas.ts"
import { isCallError, OperationRegistry } from "../src/index.ts"
import { greet, operation, quietRegistry } from "./support/operations.ts"
import { runs } from "./support/nightly.ts"

// These take longer to make than to pass: one of each for all.
const WIDE = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))

const DEEP = nested((deep) => ({ deep }))
const DEEP_ARRAY = nested((deep) => [deep])
const LONG = "x".repeat(1_000_000)

function nested(wrap: (inner: unknown) => unknown): unknown {
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level++) deep = wrap(deep)
  return deep
}

/** What nobody should pass, and somebody will. Made anew each time, because some are consumed. */
function nasties(): unknown[] {
  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  const throwing = {
    get anything(): never {
      throw new Error("getter")
    },
  }
  const trap = (): never => {
    throw new Error("trap")
  }
  return [
    undefined,
    null,
    Number.NaN,
    -0,
    2 ** 53 + 1,
    Number.POSITIVE_INFINITY,
    "",
    "\0",
    "\uFEFF",
    "\u202E\u200B",
    "\uD800",
    LONG,
    true,
    10n,
    Symbol("s"),
    () => 1,
    async () => 1,
    class Nothing {
      value = 1
    },
    [],
    [undefined],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is the point
    [, 1],
    {},
    Object.create(null),
    JSON.parse(`{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}`),
    { prototype: 1, toString: 1, valueOf: 1, hasOwnProperty: 1, then: 1 },
    Object.freeze({ name: "x" }),
    cyclic,
    DEEP,
    DEEP_ARRAY,
    throwing,
    new Proxy(
      {},
      { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap },
    ),
    new Proxy([], { get: trap, ownKeys: trap }),
    new Proxy(() => 1, { apply: trap, get: trap }),
    new Map([[1, 2]]),
    new Set([1]),
    new Date(Number.NaN),
    new Uint8Array(10),
    new Error("x"),
    Promise.resolve(1),
    new WeakMap(),
    /x/,
    WIDE,
  ]
}

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)

beforeAll(() => void process.on("unhandledRejection", note))

afterAll(() => void process.off("unhandledRejection", note))

/** Whether an error is one of ours: a CallError, or a TypeError with words of our own. */
function isOurs(error: unknown): boolean {
  if (isCallError(error)) return true
  return (
    error instanceof TypeError &&
    !/undefined \(reading|is not a function|is not iterable|not a constructor|Cannot convert|Cannot read/.test(
      error.message,
    )
  )
}

/** What a function throws or rejects with; `undefined` when it does neither. */
async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    await run()
    return undefined
  } catch (error) {
    return error ?? "nothing"
  }
}

function stackOf(error: unknown): string {
  return String((error as Error | undefined)?.stack ?? error)
}

function describeValue(value: unknown): string {
  try {
    return String(JSON.stringify(value)).slice(0, 60)
  } catch {
    return typeof value
  }
}

describe("every public function, given nonsense", () => {
  const registry = quietRegistry([greet])
  const functions: Record<string, (value: never) => unknown> = {
    FromSchema: (value) => api.FromSchema(value, { onDiagnostic: () => undefined }),
    fromStandardSchema: api.fromStandardSchema,
    compileSchema: schemas.compileSchema,
    assertIsSchema: api.assertIsSchema,
    schemaDiagnostics: schemas.schemaDiagnostics,
    collectErrors: (value) => api.collectErrors(Type.Object({ a: Type.String() }), value),
    collectErrorsSchema: (value) => api.collectErrors(value, 1),
    validateOrThrow: (value) => api.validateOrThrow(Type.Object({ a: Type.String() }), value),
    formatValueErrors: api.formatValueErrors,
    checkAccess: (value) => api.checkAccess(value),
    checkAccessIdentity: (value) => api.checkAccess({ requiredScopes: ["a"] }, value),
    checkAccessInput: (value) =>
      api.checkAccess(
        { requiredScopes: [], resourceType: "p", resourceAction: "w", resourceIdPath: "/a/b" },
        { id: "x", scopes: [], resources: { "p:1": ["w"] } },
        value,
      ),
    enforceAccess: (value) => api.enforceAccess({ requiredScopes: [] }, value, value),
    isCallError: api.isCallError,
    isResponseEnvelope: api.isResponseEnvelope,
    unwrap: api.unwrap,
    unwrapOrThrow: api.unwrapOrThrow,
    localEnvelope: (value) => api.localEnvelope(1, value),
    httpEnvelope: (value) => api.httpEnvelope(1, value),
    mcpEnvelope: (value) => api.mcpEnvelope(1, value),
    encodeEnvelope: (value) => schemas.encodeEnvelope(value),
    encodeData: (value) => schemas.encodeEnvelope(api.localEnvelope(value, "a.b")),
    decodeEnvelope: schemas.decodeEnvelope,
    mapError: (value) => api.mapError(value).toJSON(),
    callErrorDetails: (value) => JSON.stringify(new api.CallError("X", "x", { details: value })),
    callErrorCode: (value) => new api.CallError(value, "x"),
    isDeclaredError: (value) => api.isDeclaredError(value, new api.CallError("X", "x")),
    defineOperation: (value) => api.defineOperation(value),
    createRegistry: (value) => api.createRegistry(value),
    registryOptions: (value) => new OperationRegistry(value),
    register: (value) => quietRegistry().register(value),
    registerAll: (value) => quietRegistry().registerAll(value),
    registerAllItem: (value) => quietRegistry().registerAll([value]),
    registerSpec: (value) => quietRegistry().registerSpec(value),
    registerHandler: (value) => registry.registerHandler(value, () => 1),
    registerHandlerFunction: (value) => {
      const fresh = quietRegistry()
      fresh.registerSpec(greet)
      return fresh.registerHandler("demo.greet", value)
    },
    unregister: (value) => registry.unregister(value),
    get: (value) => registry.get(value),
    getByName: (value) => registry.getByName("demo", value),
    has: (value) => registry.has(value),
    search: (value) => registry.search(value),
    searchOptions: (value) => registry.search("x", value),
    searchLimit: (value) => registry.search("x", { limit: value }),
    onChange: (value) => quietRegistry().onChange(value),
    execute: (value: string) => registry.execute(value, {}),
    executeInput: (value) => registry.execute("demo.greet", value),
    executeContext: (value) => registry.execute("demo.greet", { name: "x" }, value),
    executeIdentity: (value) => registry.execute("demo.greet", { name: "x" }, { identity: value }),
    trusted: (value: string) => registry.trusted.execute(value, value, value as never),
    subscribe: (value: string) => registry.subscribe(value, value).next(),
    subscribeFunction: (value) => api.subscribe(value, "a.b"),
    buildEnv: (value) => api.buildEnv(value),
    buildEnvContext: (value) =>
      api.buildEnv({ registry, context: value })["demo"]?.["greet"]?.({ name: "x" }),
    scanOperations: (value) => api.scanOperations(value, value),
  }
  // Each field of a spec, one at a time.
  for (const field of [
    "name",
    "namespace",
    "version",
    "type",
    "description",
    "inputSchema",
    "outputSchema",
    "errorSchemas",
    "accessControl",
    "tags",
    "visibility",
    "annotations",
    "examples",
    "_meta",
    "handler",
    "composes",
    "normalize",
    "output",
  ]) {
    functions[`register.${field}`] = (value) =>
      quietRegistry().register({ ...greet, [field]: value })
  }
  // And what handlers give and throw.
  functions["handler result"] = (value) =>
    quietRegistry([
      operation("a.b", {
        outputSchema: greet.outputSchema,
        output: "strict",
        handler: () => value,
      }),
    ]).execute("a.b")
  functions["handler error"] = (value) =>
    quietRegistry([
      operation("a.b", {
        handler: () => {
          throw value
        },
      }),
    ]).execute("a.b")
  functions["handler item"] = (value) =>
    quietRegistry([
      operation("a.b", {
        type: "subscription",
        outputSchema: greet.outputSchema,
        async *handler() {
          yield value
        },
      }),
    ])
      .subscribe("a.b")
      .next()

  test.each(Object.keys(functions))(
    "%s answers with a result or an error of ours",
    async (name) => {
      for (const value of nasties()) {
        const error = await failureOf(() => functions[name]?.(value as never))
        if (error === undefined) continue
        // In words only where it matters: describing each value takes longer than the call.
        const fault = isOurs(error)
          ? undefined
          : `${name}(${describeValue(value)}) gave ${stackOf(error)}`
        expect(fault).toBeUndefined()
        expect(JSON.stringify(error).length).toBeLessThan(1_000_000)
      }
    },
  )
})

describe("random nonsense", () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
  })

  test("in every field of a definition never gets in unnoticed, and never crashes", () => {
    const fields = Object.keys(greet)
    fc.assert(
      fc.property(fc.constantFrom(...fields), anything, (field, value) => {
        const registry = quietRegistry()
        let error: unknown
        try {
          registry.register({ ...greet, [field]: value } as never)
        } catch (caught) {
          error = caught
        }
        expect(error === undefined || isOurs(error)).toBe(true)
        expect(registry.list()).toHaveLength(error === undefined ? 1 : 0)
      }),
      { numRuns: runs(500) },
    )
  })

  test("as input is refused or accepted, by id or by value", async () => {
    const registry = quietRegistry([greet])
    await fc.assert(
      fc.asyncProperty(anything, anything, async (id, input) => {
        for (const [target, value] of [
          ["demo.greet", input],
          [id, input],
        ]) {
          const error = await failureOf(() => registry.execute(target as string, value))
          expect(error === undefined || isCallError(error)).toBe(true)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  test("as a schema is a schema, a diagnostic or an error of ours", () => {
    fc.assert(
      fc.property(anything, anything, (schema, value) => {
        let agrees: boolean
        try {
          const compiled = schemas.compileSchema(
            api.FromSchema(schema, { onDiagnostic: () => undefined }),
          )
          agrees = compiled.check(value) === (compiled.errors(value).length === 0)
        } catch (error) {
          agrees = isOurs(error)
        }
        expect(agrees).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })
})

test("leaves no rejection unhandled, and no prototype or passed object changed", async () => {
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(unhandled).toEqual([])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  for (const passed of [WIDE, DEEP, DEEP_ARRAY]) expect(Object.isFrozen(passed)).toBe(false)
  expect(Object.keys(WIDE)).toHaveLength(100_000)
})
