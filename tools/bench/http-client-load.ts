/**
 * A typed client in a separate process, so that its CPU time contains only its own work.
 *
 * It is asked `cpu`, its CPU nanoseconds so far, or for calls; it answers those with how many results were right, or with
 * why one did not come.
 */
import { isDeepStrictEqual } from "node:util"
import { cpuSoFar } from "./asked-child.ts"
import { quote, quoteInputs } from "./cases.ts"
import type { Quote, QuoteInput } from "./cases.ts"
import { clientFor } from "./contenders/http-clients.ts"
import type { ClientName } from "./contenders/http-clients.ts"

/** A request for calls. */
export type ClientLoad =
  | "cpu"
  | {
      readonly port: number
      readonly count: number
      /** Concurrent calls. */
      readonly width: number
      /** Compares every result with the handler's. */
      readonly isChecked?: boolean
    }

const name = process.argv[2] as ClientName
let call: ((input: QuoteInput) => Promise<Quote>) | undefined

// The parent process is gone.
process.on("disconnect", () => process.exit())
process.on("message", (load: ClientLoad) => {
  if (load === "cpu") process.send?.(cpuSoFar())
  else {
    run(load).then(
      (count) => process.send?.(count),
      (error: unknown) => process.send?.(String(error)),
    )
  }
})

async function run({ port, count, width, isChecked }: Exclude<ClientLoad, "cpu">): Promise<number> {
  call ??= await clientFor(name, `http://127.0.0.1:${port}`)
  let right = 0
  for (let at = 0; at < count;) {
    const inputs: QuoteInput[] = []
    while (inputs.length < width && at < count) {
      inputs.push(quoteInputs[at++ % quoteInputs.length] as QuoteInput)
    }
    const results = await Promise.all(inputs.map(call))
    for (const [index, result] of results.entries()) {
      const isRight =
        isChecked !== true || isDeepStrictEqual(result, await quote(inputs[index] as QuoteInput))
      if (isRight) right++
    }
  }
  return right
}
