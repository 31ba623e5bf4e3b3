import type { Credential } from "./model.ts"
import { Requests } from "./requests.ts"
import { Session } from "./session.ts"

/** Throws a `ProblemError` when the hub does not take a credential; nothing is kept of it. */
export async function probeCredential(
  baseUrl: string,
  credential: Credential,
  signal: AbortSignal,
): Promise<void> {
  const trial = new Session()
  trial.become(credential)
  await new Requests({ baseUrl, session: trial }).json("operations?limit=1", signal)
}

/** Why a text can be no credential; nothing when it may be one. */
export function faultOfCredential(value: string): string | undefined {
  if (value === "") return "Give the key or the token."
  if (/^bearer\s/i.test(value)) return 'Give the token alone, without "Bearer".'
  // Headers take nothing else.
  return /^[\x21-\x7e]+$/.test(value)
    ? undefined
    : "It has spaces or characters that keys and tokens do not have. Copy it once more."
}
