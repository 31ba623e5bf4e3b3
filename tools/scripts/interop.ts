/**
 * Sends the smallest request of every operation of six real documents to Prism, a mock server of other
 * people that validates requests: npm run interop
 */
import { createRequire } from "node:module"
import { FromOpenAPI, prepareRequest } from "../../src/from-openapi.ts"
import type { ImportedOperation, OpenAPIConfig } from "../../src/from-openapi.ts"
import { isRecord } from "../../src/internal/guards.ts"
import { provideClients } from "../../test/sources/mcp/interop/install.ts"
import { minimalInput } from "../../test/sources/openapi/callable.ts"
import { corpusObject, hasCorpus } from "../../test/sources/openapi/corpus.ts"
import { REJECTIONS } from "../../test/sources/openapi/prism-rejections.ts"

interface MockServer {
  listen(port: number, host: string): Promise<string>
  close(): Promise<void>
}

const DOCUMENTS = [
  "petstore-3.0.yaml",
  "notion.json",
  "paypal/invoicing_v2.json",
  "docker-engine.yaml.gz",
  "museum.yaml",
  "xero/xero_files.yaml",
]
const WANTED = 0.99

const { CI } = process.env
if (!hasCorpus) {
  process.stderr.write("The OpenAPI corpus is not there: nothing is sent to Prism.\n")
  process.exit(CI === undefined ? 0 : 1)
}
const { folder, reason } = await provideClients()
if (folder === undefined) {
  process.stderr.write(`SKIPPED: ${reason}\n`)
  process.exit(0)
}
const load = createRequire(`${folder}/package.json`)
const { getHttpOperationsFromSpec } = load("@stoplight/prism-http") as {
  getHttpOperationsFromSpec: (document: object) => Promise<unknown[]>
}
const { createServer } = load("@stoplight/prism-http-server") as {
  createServer: (operations: unknown[], options: object) => MockServer
}
const { createLogger } = load("@stoplight/prism-core") as {
  createLogger: (name: string, options: object) => object
}

let sent = 0
const rejected = new Map<string, string>()
for (const file of DOCUMENTS) {
  const document = withoutServers(corpusObject(file))
  const server = createServer(await getHttpOperationsFromSpec(document), {
    components: { logger: createLogger("prism", { level: "silent" }) },
    cors: false,
    config: {
      mock: { dynamic: false },
      validateRequest: true,
      validateResponse: false,
      checkSecurity: true,
      errors: false,
      isProxy: false,
    },
  })
  const baseUrl = await server.listen(0, "127.0.0.1")
  const credentials = credentialsFor(document)
  for (const operation of FromOpenAPI(document, { namespace: "api", baseUrl, credentials })) {
    sent++
    const rejection = await rejectionOf(operation)
    if (rejection !== undefined) rejected.set(`${file} ${operation.name}`, rejection)
  }
  await server.close()
}

const unexpected = [...rejected].filter(([key]) => !REJECTIONS.has(key))
const gone = [...REJECTIONS.keys()].filter((key) => !rejected.has(key))
for (const [key, rejection] of rejected) {
  console.log(`rejected ${key}: ${REJECTIONS.get(key) ?? rejection}`)
}
for (const key of gone) console.log(`accepted ${key}: take it off the list of rejections`)
const share = (sent - rejected.size) / sent
console.log(
  `Prism accepted ${sent - rejected.size} of ${sent} requests (${(share * 100).toFixed(2)} %).`,
)
process.exit(share < WANTED || unexpected.length > 0 || gone.length > 0 ? 1 : 0)

/** Why Prism rejects a request. That it has no response is not about the request. */
async function rejectionOf(operation: ImportedOperation): Promise<string | undefined> {
  try {
    const { method, url, headers, body } = await prepareRequest(
      operation,
      minimalInput(operation, ["path", "query"]),
    )
    const response = await fetch(url, { method, headers, body: (body ?? null) as BodyInit | null })
    const text = await response.text()
    const isProblem = response.headers.get("content-type")?.includes("problem+json") === true
    return isProblem && response.status < 500 ? text.slice(0, 500) : undefined
  } catch (error) {
    return String(error)
  }
}

/** Prism serves all operations at one address. */
function withoutServers(document: Record<string, unknown>): Record<string, unknown> {
  for (const item of Object.values(document["paths"] as object)) {
    if (!isRecord(item)) continue
    for (const holder of [item, ...Object.values(item)]) {
      if (isRecord(holder)) delete (holder as { servers?: unknown }).servers
    }
  }
  return document
}

function credentialsFor(document: Record<string, unknown>): OpenAPIConfig["credentials"] {
  const { components, securityDefinitions } = document
  const schemes = isRecord(components) ? components["securitySchemes"] : securityDefinitions
  const isBasic = (scheme: unknown): boolean =>
    isRecord(scheme) && (scheme["type"] === "basic" || scheme["scheme"] === "basic")
  return Object.fromEntries(
    Object.entries(schemes ?? {}).map(([name, scheme]) => [
      name,
      isBasic(scheme) ? { type: "basic" as const, username: "a", password: "b" } : "x",
    ]),
  )
}
