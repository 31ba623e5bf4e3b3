import type { Credential } from "./model.ts"
import { Requests } from "./requests.ts"
import { Session } from "./session.ts"

/** Throws a `ProblemError` if the hub does not accept a credential; does not store it. */
export async function probeCredential(
  baseUrl: string,
  credential: Credential,
  signal: AbortSignal,
): Promise<void> {
  const trial = new Session()
  trial.setCredential(credential)
  await new Requests({ baseUrl, session: trial }).json("operations?limit=1", signal)
}

/** Why a text cannot be a credential; `undefined` if it may be one. */
export function credentialIssue(value: string): string | undefined {
  if (value === "") return "Enter the key or the token."
  if (/^bearer\s/i.test(value)) return 'Give the token alone, without "Bearer".'
  // Headers allow nothing else.
  return /^[\x21-\x7e]+$/.test(value)
    ? undefined
    : "It contains spaces or characters that keys and tokens do not have. Copy it again."
}
