/**
 * A new process that is asked for one document of its API, once: `GitHub`, or so many operations with schemas of
 * their own, and for which path. Responds with the cost.
 */
import { cpuSoFar } from "./asked-child.ts"
import { loadDocument } from "./documents.ts"
import type { First, FirstQuestion } from "./first-documents.ts"
import { loadBuiltDocuments } from "./library.ts"
import { manyOperations } from "./scaling.ts"

const library = await loadBuiltDocuments()

// The parent process is gone.
process.on("disconnect", () => process.exit())
process.on("message", (question: FirstQuestion) => {
  void measure(question).then((first) => process.send?.(first))
})
process.send?.("ready")

async function measure({ operations, path }: FirstQuestion): Promise<First> {
  const registry = operations === "GitHub" ? await github() : manyOperations(library, operations)
  const { fetch } = library.toHTTP(registry)
  // The longest piece of work between two turns of the event loop.
  let longest = 0
  let isOver = false
  let before = cpuSoFar()
  const watch = (): void => {
    const now = cpuSoFar()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  const start = cpuSoFar()
  const response = await fetch(new Request(`http://localhost${path}`))
  let bytes = 0
  for await (const chunk of response.body ?? []) bytes += chunk.byteLength
  const whole = cpuSoFar() - start
  isOver = true
  watch()
  return { whole, longest, bytes }
}

async function github() {
  const { text } = await loadDocument("GitHub")
  return library.createRegistry(library.FromOpenAPI(text, { namespace: "github" }))
}
