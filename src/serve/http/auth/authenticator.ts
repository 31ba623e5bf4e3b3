import type { Clock } from "../../../internal/platform.ts"
import type { Authenticate, Authenticated } from "../../authenticate.ts"
import { readCredential } from "../../upgrade.ts"
import type { UpgradeRequestLike } from "../../upgrade.ts"
import { ApiKeys } from "./api-keys.ts"
import { JwtVerifier } from "./jwt.ts"
import type { AuthOptions } from "./options.ts"

type Result = Authenticated | null | undefined

/**
 * Combines API keys, tokens and `authenticate` into one function.
 *
 * Answers synchronously when an API key decides. Throws a `TypeError` for invalid options.
 */
export function createAuthenticate(auth: AuthOptions, clock: Clock): Authenticate {
  const { apiKeys, jwt, authenticate, anonymous = false } = auth
  if (apiKeys === undefined && jwt === undefined && authenticate === undefined) {
    throw new TypeError("auth must have at least one of apiKeys, jwt and authenticate.")
  }
  if (authenticate !== undefined && typeof authenticate !== "function") {
    throw new TypeError("auth.authenticate must be a function from a request to an identity.")
  }
  const keys = apiKeys === undefined ? undefined : new ApiKeys(apiKeys)
  const tokens = jwt === undefined ? undefined : new JwtVerifier(jwt, clock)

  return (request: UpgradeRequestLike): Result | Promise<Result> => {
    const credential = readCredential(request)
    if (!credential.isPresent) {
      const result = authenticate?.(request)
      if (!anonymous) return result
      return result instanceof Promise
        ? result.then((identity) => identity ?? null)
        : (result ?? null)
    }
    const { apiKey, bearer } = credential
    // A key in its own header decides alone: two credentials are never combined.
    const keyIdentity = keys?.find(apiKey ?? bearer ?? "")
    if (keyIdentity !== undefined) return keyIdentity
    if (tokens !== undefined && apiKey === undefined && isTokenLike(bearer)) {
      if (authenticate === undefined) return tokens.find(bearer)
      return findOrAsk(tokens, bearer, () => authenticate(request))
    }
    return authenticate?.(request)
  }
}

/** Verifies a token. A token that is not accepted may be known to `authenticate`; an outage decides alone. */
async function findOrAsk(
  tokens: JwtVerifier,
  bearer: string,
  ask: () => Result | Promise<Result>,
): Promise<Result> {
  let identity: Authenticated | undefined
  try {
    identity = await tokens.find(bearer)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "UNAVAILABLE") throw error
  }
  return identity ?? (await ask())
}

function isTokenLike(bearer: string | undefined): bearer is string {
  return bearer !== undefined && bearer.split(".", 4).length === 3
}
