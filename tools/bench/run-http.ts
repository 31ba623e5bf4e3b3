import type { HTTPResults } from "./goals.ts"
import { http } from "./http.ts"
import { httpClients } from "./http-client.ts"
import { measureDisconnects } from "./http-disconnect.ts"
import { weighIdle } from "./http-idle.ts"
import type { Library } from "./library.ts"
import { measure } from "./measure.ts"
import type { Effort } from "./measure.ts"

/** Measures a registry that is served over HTTP: requests, streams, idle streams, and clients that leave. */
export async function measureHTTP(
  library: Library,
  effort: Effort,
  log: (text: string) => void,
): Promise<HTTPResults> {
  log("Measuring HTTP")
  const rows = await http()
  try {
    // The heavier a server, the fewer requests warm it up in the same time; how long that takes differs a lot.
    // A batch has to be long next to messages between processes, and to the opening of a stream.
    const longer = { ...effort, batch: effort.batch * 10, warmUp: effort.warmUp * 14 }
    const requests = await measure(rows.requests, longer)
    log("Measuring server-sent events")
    const events = await measure(rows.events, longer)
    log("Weighing idle streams")
    const idle = await weighIdle(library)
    log("Measuring clients that leave")
    const disconnects = await measureDisconnects()
    log("Measuring calls of typed clients over HTTP")
    const { singleCalls, batchedCalls } = await measureClients(longer)
    return { requests, events, idle, disconnects, singleCalls, batchedCalls }
  } finally {
    rows.close()
  }
}

/** Measures what a call costs both ends together. */
async function measureClients(
  effort: Effort,
): Promise<Pick<HTTPResults, "singleCalls" | "batchedCalls">> {
  const rows = await httpClients()
  try {
    const singleCalls = await measure(rows.single, effort)
    return { singleCalls, batchedCalls: await measure(rows.batched, effort) }
  } finally {
    rows.close()
  }
}
