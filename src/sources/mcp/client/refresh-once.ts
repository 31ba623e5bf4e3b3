import { memberOf } from "./sdk.ts"
import { systemClock } from "../../../internal/clock.ts"

/** A response that several callers can read. */
interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Sent {
  readonly answer: Promise<Answer>
  readonly at: number
}

const KEPT_MS = 5000
const sent = new WeakMap<object, Map<string, Sent>>()

/**
 * Sends a request for new tokens once, however many calls found their tokens expired.
 *
 * With single-use refresh tokens, the second of two such requests would log the user out. The response is kept
 * for a moment: for callers that read the old tokens before the new ones were saved, and for callers that
 * read the new ones without knowing that they are new.
 */
export async function refreshOnce(
  provider: object,
  url: URL,
  body: string,
  send: () => Promise<Response>,
): Promise<Response> {
  const all = sent.get(provider) ?? new Map<string, Sent>()
  sent.set(provider, all)
  const now = systemClock.now()
  for (const [key, { at }] of all) if (now - at > KEPT_MS) all.delete(key)
  const key = `${url.href}\n${body}`
  let current = all.get(key)
  if (current === undefined) {
    const made: Sent = { answer: read(send), at: now }
    current = made
    all.set(key, made)
    made.answer.then(
      ({ status, text }) => {
        // A failed request may be repeated.
        if (status >= 400) all.delete(key)
        const next = nextForm(body, text)
        if (next !== undefined) all.set(`${url.href}\n${next}`, { ...made, at: systemClock.now() })
      },
      () => all.delete(key),
    )
  }
  const { status, headers, text } = await current.answer
  return new Response(text, { status, headers })
}

/** The form of a request for new tokens; `undefined` for any other request. */
export function refreshForm(init: RequestInit | undefined): string | undefined {
  if (init?.method?.toUpperCase() !== "POST") return undefined
  const { body } = init
  const text = body instanceof URLSearchParams ? body.toString() : body
  if (typeof text !== "string") return undefined
  return /(?:^|&)grant_type=refresh_token(?:&|$)/.test(text) ? text : undefined
}

/** The form that would renew the tokens just received. */
function nextForm(body: string, text: string): string | undefined {
  try {
    const token = memberOf(JSON.parse(text), "refresh_token")
    if (typeof token !== "string") return undefined
    const form = new URLSearchParams(body)
    form.set("refresh_token", token)
    return form.toString()
  } catch {
    return undefined
  }
}

async function read(send: () => Promise<Response>): Promise<Answer> {
  const response = await send()
  const { status } = response
  const headers = new Headers(response.headers)
  // These headers describe the encoded body, not the text.
  for (const name of ["content-encoding", "content-length"]) headers.delete(name)
  return { status, headers, text: await response.text() }
}
