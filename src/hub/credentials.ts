import type { Clock } from "../internal/platform.ts"
import { createAuthenticate } from "../serve/http/auth/authenticator.ts"
import type { AuthOptions } from "../serve/http/auth/options.ts"
import type { Authenticate } from "../serve/authenticate.ts"
import { sameData } from "../internal/same-data.ts"

type Keys = NonNullable<AuthOptions["apiKeys"]>

/** How callers of a hub authenticate. Its API keys follow the configuration. */
export class Credentials {
  readonly #clock: Clock
  #auth: AuthOptions
  #current: Authenticate

  constructor(auth: AuthOptions, clock: Clock) {
    this.#clock = clock
    this.#auth = auth
    this.#current = createAuthenticate(auth, clock)
  }

  readonly authenticate: Authenticate = (request) => this.#current(request)

  /**
   * Prepares other API keys; tokens of an issuer stay as they are. The result puts the keys into use, and returns the
   * callers that had one which was removed or changed. Throws a `TypeError` for invalid keys.
   */
  prepare(apiKeys: Keys | undefined): () => ReadonlySet<string> {
    const before = this.#auth.apiKeys ?? []
    if (sameData(before, apiKeys ?? [])) return () => new Set()
    const auth = { ...this.#auth, apiKeys }
    // A hub whose last key was removed rejects all callers, until it is started without authentication.
    const isEmpty = apiKeys === undefined && auth.jwt === undefined
    const next: Authenticate = isEmpty ? () => undefined : createAuthenticate(auth, this.#clock)
    return () => {
      this.#auth = auth
      this.#current = next
      const removed = before.filter((key) => !(apiKeys ?? []).some((kept) => sameData(kept, key)))
      return new Set(removed.map((key) => ("identity" in key ? key.identity.id : key.id)))
    }
  }
}
