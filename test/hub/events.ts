import { createParser } from "eventsource-parser"
import { expect, onTestFinished } from "vitest"

/** An event of a hub. */
export interface HubEvent {
  readonly event: string | undefined
  readonly data: unknown
}

/** Opens the events; `until` reads on until there is one like that. */
export async function listenTo(url: string, headers: Readonly<Record<string, string>> = {}) {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const response = await fetch(`${url}/hub/events`, {
    headers: { ...headers, accept: "text/event-stream" },
    signal: gone.signal,
  })
  expect(response.status).toBe(200)
  expect(response.headers.get("content-type")).toContain("text/event-stream")
  const events: HubEvent[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event, data: JSON.parse(data) }),
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const until = async (isIt: (one: HubEvent) => boolean): Promise<HubEvent | undefined> => {
    for (;;) {
      const found = events.find(isIt)
      if (found !== undefined) return found
      const { done, value } = await reader.read()
      if (done) return undefined
      parser.feed(value)
    }
  }
  return { events, until, leave: () => gone.abort() }
}
