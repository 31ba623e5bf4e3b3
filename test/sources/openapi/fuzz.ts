import { isCallError, OperationRegistry } from "../../../src/index.ts"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import type { ImportedOperations, OpenAPIConfig } from "../../../src/from-openapi.ts"
import { isPrivateHost } from "../../../src/internal/private-host.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { describeError, expectThat, garble, pollution } from "../../fuzz/laws.ts"
import { valueFor } from "./fuzz/inputs.ts"
import { mutate } from "./fuzz/mutate.ts"
import { Random } from "./fuzz/random.ts"
import { SchemaLaws } from "./laws.ts"

/** A document that was changed, and how. */
export interface Mutant {
  readonly seed: number
  readonly base: string
  readonly steps: readonly string[]
  /** It holds nothing but what JSON can say. */
  readonly isJson: boolean
  /** An object, or its text with a few characters changed. */
  readonly document: object | string
}

/** What became of a mutant: `fault` where something did not hold. */
export interface Outcome {
  readonly kind: "imported" | "refused"
  readonly operations: number
  readonly requests: number
  readonly refusedRequests: number
  readonly fault?: string | undefined
}

const BASE_URL = "https://api.test/base"
const CANARY = "canary-5e1f"
const MAX_OPERATIONS = 20
/** Compiling is dear, and mutants are many. */
const MAX_COMPILED = 2
/** Milliseconds of work after which a mutant counts as one that hangs. */
const MAX_WORK = 2000

/** The mutant of a seed; the same one each time. */
export function mutantOf(seed: number, bases: ReadonlyArray<readonly [string, string]>): Mutant {
  const random = new Random(seed)
  const [base, text] = random.pick(bases)
  const document = JSON.parse(text) as Record<string, unknown>
  const { steps, isJson } = mutate(document, random)
  if (!random.once(20)) return { seed, base, steps, isJson, document }
  const garbled = garble(textOf(document), random)
  return { seed, base, steps: [...steps, "garble"], isJson, document: garbled }
}

/** Imports a mutant and uses what comes out, as a program would. Never throws. */
export async function tryMutant({ seed, document, isJson }: Mutant): Promise<Outcome> {
  const random = new Random(seed ^ 0x5bd1e995)
  const counts = { operations: 0, requests: 0, refusedRequests: 0 }
  const start = process.cpuUsage()
  const end = (kind: Outcome["kind"], fault?: string): Outcome => {
    const { user, system } = process.cpuUsage(start)
    const work = (user + system) / 1000
    const slow = work > MAX_WORK ? `took ${Math.round(work)} ms` : undefined
    return { kind, ...counts, fault: fault ?? pollution() ?? slow }
  }
  const config = configOf(random)
  const prefix = mayMove(document) ? "/" : "/base/"
  let operations: ImportedOperations
  try {
    operations = FromOpenAPI(document, config)
  } catch (error) {
    return end("refused", isRefusal(error) ? undefined : `import threw ${describeError(error)}`)
  }
  counts.operations = operations.length
  try {
    readEverything(operations, new SchemaLaws({ isJson }))
    for (const operation of operations.slice(0, MAX_OPERATIONS)) {
      const { inputSchema } = operation
      const input = valueFor(inputSchema, inputSchema as Readonly<Record<string, unknown>>, random)
      try {
        checkRequest(await prepareRequest(operation, input), config, prefix)
        counts.requests++
      } catch (error) {
        if (!isCallError(error)) throw error
        if (textOf(error).includes(CANARY))
          throw new Error("the error holds the credential", { cause: error })
        counts.refusedRequests++
      }
    }
  } catch (error) {
    return end("imported", describeError(error))
  }
  return end("imported")
}

function configOf(random: Random): OpenAPIConfig {
  return {
    namespace: "fuzz",
    ...(random.once(6) ? { servers: "document" as const } : { baseUrl: BASE_URL }),
    ...(random.once(4) && { flatten: true }),
    ...(random.once(3) && { auth: CANARY }),
  }
}

function readEverything(operations: ImportedOperations, laws: SchemaLaws): void {
  const { report } = operations
  const { kept, widened, skipped } = report.counts
  expectThat(kept + widened === operations.length, "the report counts other operations")
  expectThat(report.operations.length === kept + widened + skipped, "the report lists others")
  expectThat(String(report) !== "" && textOf(report) !== "", "the report cannot be printed")
  const registry = new OperationRegistry()
  registry.registerAll(operations)
  expectThat(registry.list().length === operations.length, "names are not unique")
  operations.slice(0, MAX_OPERATIONS).forEach((operation, index) => {
    const [fault] = laws.faults(operation)
    expectThat(fault === undefined, fault ?? "")
    void operation.examples
    expectThat(!textOf(operation._meta).includes(CANARY), "_meta holds the credential")
    if (index >= MAX_COMPILED) return
    const long = `${"a".repeat(3000)}!`
    for (const schema of [operation.inputSchema, operation.outputSchema]) {
      const compiled = compileSchema(schema)
      for (const value of [{}, [], long, { body: long }, null]) compiled.check(value)
      compiled.errors({}, 3)
    }
  })
}

function checkRequest(
  { method, url, headers }: Awaited<ReturnType<typeof prepareRequest>>,
  config: OpenAPIConfig,
  prefix: string,
): void {
  const { origin, pathname, protocol, hostname, href } = new URL(url)
  expectThat(href === url, `"${url}" is read as "${href}"`)
  expectThat(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method), `"${method}" is no method`)
  if (config.servers === "document") {
    expectThat(/^https?:$/.test(protocol) && !isPrivateHost(hostname), `it goes to ${origin}`)
  } else {
    const isBelow = origin === "https://api.test" && `${pathname}/`.startsWith(prefix)
    expectThat(isBelow, `"${url}" is not below ${BASE_URL}`)
  }
  for (const [name, value] of Object.entries(headers)) {
    expectThat(!/[\r\n\0]/.test(name + value), `header ${JSON.stringify(name)} breaks out`)
  }
  // Throws for what the platform would not send.
  void new Headers(headers)
}

/** Operations with a server of their own may have another path, though not another origin. */
function mayMove(document: object | string): boolean {
  if (typeof document === "string") return true
  const seen = new Set<unknown>([document])
  // The set grows while it is walked.
  for (const node of seen) {
    if (typeof node !== "object" || node === null) continue
    if (node !== document && Object.hasOwn(node, "servers")) return true
    for (const child of Object.values(node)) seen.add(child)
  }
  return false
}

/** An error that says what is wrong with the document, and no slip of the importer. */
function isRefusal(error: unknown): boolean {
  if (isCallError(error)) return error.message.length < 2000
  return error instanceof TypeError && error.message.startsWith("The OpenAPI document")
}

/** JSON of anything, where it has one. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}
