import { mutantOf, tryMutant } from "../sources/openapi/fuzz.ts"
import { allFuzzDocuments } from "../sources/openapi/fuzz/documents.ts"
import type { Fuzzer } from "./laws.ts"

/** Mutants of OpenAPI documents: each gives an import that holds, or a clean error. */
export function createOpenAPIFuzzer(): Fuzzer {
  const documents = allFuzzDocuments()
  return {
    show(seed) {
      const { base, steps } = mutantOf(seed, documents)
      return { base, steps }
    },
    async run(seed) {
      const { kind, fault } = await tryMutant(mutantOf(seed, documents))
      if (fault !== undefined) throw new Error(fault)
      return kind
    },
    async [Symbol.asyncDispose]() {},
  }
}
