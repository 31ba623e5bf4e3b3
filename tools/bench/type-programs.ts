/** A program whose operations are defined and each called once, as the peers' users would write it. */
export interface TypeProgram {
  readonly name: string
  /** The source for a number of operations, ten in each namespace. */
  readonly source: (operations: number) => string
}

/** How our program is written. */
interface Style {
  readonly form: "object" | "array"
  /** Whether operations are written inside `createRegistry`, or as constants. */
  readonly isInline: boolean
  readonly through: "execute" | "client"
}

/** Our program in every style, those of tRPC and oRPC last. */
export const TYPE_PROGRAMS: readonly TypeProgram[] = [
  ...(["object", "array"] as const).flatMap((form) =>
    [true, false].flatMap((isInline) =>
      (["execute", "client"] as const).map((through) => ({
        name: `${form}, ${isInline ? "inline" : "constants"}, ${through}`,
        source: (operations: number) => oursWith(operations, { form, isInline, through }),
      })),
    ),
  ),
  { name: "tRPC", source: trpcWith },
  { name: "oRPC", source: orpcWith },
]

const PER_NAMESPACE = 10

// Every operation has a different schema, because the compiler caches equal ones.
function inputOf(at: number): string {
  return `z.object({ a: z.string(), b${at}: z.number().optional(), c: z.array(z.string()), d: z.boolean() })`
}

function outputOf(at: number): string {
  return `z.object({ id: z.string(), n${at}: z.number(), tags: z.array(z.string()) })`
}

function resultOf(at: number): string {
  return `({ id: input.a, n${at}: input.b${at} ?? 0, tags: input.c })`
}

const INPUT = `{ a: "x", c: [], d: true }`

/** An object of objects: ten members in each namespace. */
function router(operations: number, member: (at: number) => string, wrap = "{*}"): string {
  const namespaces = Array.from(
    { length: Math.ceil(operations / PER_NAMESPACE) },
    (_, namespace) => {
      const first = namespace * PER_NAMESPACE
      const members = indexes(Math.min(PER_NAMESPACE, operations - first)).map(
        (at) => `op${first + at}: ${member(first + at)}`,
      )
      return `  ns${namespace}: ${wrap.replace("*", () => `\n${members.join(",\n")},\n`)},`
    },
  )
  return wrap.replace("*", () => `\n${namespaces.join("\n")}\n`)
}

function namespaceOf(at: number): string {
  return `ns${Math.floor(at / PER_NAMESPACE)}`
}

function indexes(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}

function calls(operations: number, call: (at: number) => string, data: string): string[] {
  return indexes(operations).map(
    (at) => `export const n${at}: number = (await ${call(at)})${data}.n${at}`,
  )
}

function oursWith(operations: number, { form, isInline, through }: Style): string {
  const definition = (at: number): string => `defineOperation({${
    form === "array" ? `\n  namespace: "${namespaceOf(at)}",\n  name: "op${at}",` : ""
  }
  type: "query",
  description: "",
  inputSchema: ${inputOf(at)},
  outputSchema: ${outputOf(at)},
  accessControl: { requiredScopes: [] },
  handler: (input) => ${resultOf(at)},
})`
  const value = (at: number): string => (isInline ? definition(at) : `definition${at}`)
  const list =
    form === "object"
      ? router(operations, value)
      : `[\n${indexes(operations).map(value).join(",\n")}\n]`
  return [
    `import { z } from "zod"`,
    `import { createClient, createRegistry, defineOperation } from "@alkdev/operations"`,
    ...(isInline
      ? []
      : indexes(operations).map((at) => `const definition${at} = ${definition(at)}`)),
    `export const registry = createRegistry(${list})`,
    `export const client = createClient<typeof registry>(new EventTarget())`,
    ...calls(
      operations,
      (at) =>
        through === "client"
          ? `client.${namespaceOf(at)}.op${at}(${INPUT})`
          : `registry.execute("${namespaceOf(at)}.op${at}", ${INPUT})`,
      ".data",
    ),
  ].join("\n")
}

function trpcWith(operations: number): string {
  const procedure = (at: number): string =>
    `t.procedure.input(${inputOf(at)}).output(${outputOf(at)}).query(({ input }) => ${resultOf(at)})`
  return [
    `import { z } from "zod"`,
    `import { initTRPC } from "@trpc/server"`,
    `import { createTRPCClient } from "@trpc/client"`,
    `const t = initTRPC.create()`,
    `export const router = ${router(operations, procedure, "t.router({*})")}`,
    `export const client = createTRPCClient<typeof router>({ links: [] })`,
    ...calls(operations, (at) => `client.${namespaceOf(at)}.op${at}.query(${INPUT})`, ""),
  ].join("\n")
}

function orpcWith(operations: number): string {
  const procedure = (at: number): string =>
    `os.input(${inputOf(at)}).output(${outputOf(at)}).handler(({ input }) => ${resultOf(at)})`
  return [
    `import { z } from "zod"`,
    `import { os, type RouterClient } from "@orpc/server"`,
    `import { createORPCClient } from "@orpc/client"`,
    `export const router = ${router(operations, procedure)}`,
    `declare const link: Parameters<typeof createORPCClient>[0]`,
    `export const client: RouterClient<typeof router> = createORPCClient(link)`,
    ...calls(operations, (at) => `client.${namespaceOf(at)}.op${at}(${INPUT})`, ""),
  ].join("\n")
}
