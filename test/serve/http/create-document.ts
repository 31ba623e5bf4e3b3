import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { documentSteps } from "../../../src/serve/http/openapi/document.ts"
import type { DocumentOptions, OpenAPIObject } from "../../../src/serve/http/openapi/model.ts"

/** Creates the OpenAPI document of a registry at once. */
export function createDocument(registry: AnyRegistry, options: DocumentOptions): OpenAPIObject {
  const steps = documentSteps(registry, options)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
