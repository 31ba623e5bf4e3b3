/** The first call of an operation: checks compiled, request written, answer read and checked. */
import assert from "node:assert/strict"
import type {
  ImportedOperation,
  ImportedOperations,
  OpenAPIConfig,
} from "../../src/from-openapi.ts"
import { ANSWERS } from "./answers.ts"
import type { DocumentName } from "./documents.ts"
import type { ImportLibrary } from "./library.ts"
import { cpuOf } from "./measure.ts"
import { collectYoung } from "./young.ts"

/** The schemas that the first call of an operation involves. */
export interface CallReach {
  readonly operation: string
  /** Definitions that its input and output refer to. */
  readonly definitions: number
}

/** CPU nanoseconds of the first call of one operation of a document that was just imported. */
export async function firstCall(
  { FromOpenAPI, createRegistry }: ImportLibrary,
  document: DocumentName,
  text: string,
): Promise<number> {
  const { operationId, input, answer } = ANSWERS[document]
  // Created in advance, so that the platform's creation of responses is not measured.
  const response = Response.json(answer)
  const operations = FromOpenAPI(text, configFor(response))
  const operation = operationOf(operations, operationId)
  await using registry = createRegistry([operation])
  const id = `${operation.namespace}.${operation.name}`
  // Two collections move the document to the old generation, so that this call does not pay for it.
  collectYoung()
  collectYoung()
  let data: unknown
  const time = await cpuOf(async () => {
    const envelope = await registry.execute(id, input)
    data = envelope.data
  })
  assert.deepEqual(data, answer, `${document}: ${operationId} must give the answer`)
  return time
}

/** What the operation can lead to, once it is clear that its input and answer fit their schemas. */
export function reachOf(
  { collectErrors }: ImportLibrary,
  document: DocumentName,
  operations: ImportedOperations,
): CallReach {
  const { operationId, input, answer } = ANSWERS[document]
  const { inputSchema, outputSchema } = operationOf(operations, operationId)
  assert.deepEqual(collectErrors(inputSchema, input), [], `${document}: ${operationId}, input`)
  assert.deepEqual(collectErrors(outputSchema, answer), [], `${document}: ${operationId}, answer`)
  const names = [inputSchema, outputSchema].flatMap((schema) =>
    Object.keys((schema as { readonly $defs?: object }).$defs ?? {}),
  )
  return { operation: operationId, definitions: new Set(names).size }
}

function configFor(response: Response): OpenAPIConfig {
  return {
    namespace: "api",
    baseUrl: "https://api.example.com",
    auth: "secret",
    fetch: async () => response,
  }
}

function operationOf(operations: ImportedOperations, operationId: string): ImportedOperation {
  // Names are made of ids, so that most operations can be passed over without reading more of them.
  const letters = plain(operationId)
  const found = operations.find(({ name, type }) => type === "query" && plain(name) === letters)
  if (found === undefined) throw new Error(`There is no operation "${operationId}".`)
  return found
}

function plain(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase()
}
