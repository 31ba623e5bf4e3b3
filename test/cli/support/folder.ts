import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** A folder of its own, which goes with the test. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string
}

/** Makes a folder with some files. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), "operations-"))
  // Where a project begins nothing above is looked at.
  await mkdir(join(path, ".git"))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** A module with one operation, without any package. */
export function moduleText(namespace: string, name: string): string {
  return `export default {
  namespace: "${namespace}",
  name: "${name}",
  version: "1.0.0",
  type: "query",
  description: "Says its own name",
  inputSchema: { type: "object", properties: {} },
  outputSchema: { type: "string" },
  accessControl: { requiredScopes: [] },
  handler: () => "${name}",
}
`
}

/** A small OpenAPI document. */
export const DOCUMENT = `openapi: 3.1.0
info:
  title: Weather Service
  version: 1.0.0
servers: [{ url: "http://127.0.0.1:9" }]
paths:
  /now:
    get:
      operationId: now
      summary: Weather now
      responses: { "200": { description: It, content: { application/json: { schema: { type: object } } } } }
  /lost:
    $ref: "#/nowhere"
`
