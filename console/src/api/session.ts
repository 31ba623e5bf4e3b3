import { Listeners } from "../../../src/internal/listeners.ts"
import type { Credential } from "./model.ts"

/** The credential of this page, for as long as it is open. It is never stored. */
export class Session {
  #credential: Credential | undefined
  #isRequired = false
  readonly #listeners = new Listeners()

  get credential(): Credential | undefined {
    return this.#credential
  }

  /** Whether the hub has asked for a credential. */
  get isRequired(): boolean {
    return this.#isRequired
  }

  /** Sets the credential from now on; `undefined` for anonymous. */
  setCredential(credential: Credential | undefined): void {
    this.#credential = credential
    this.#isRequired = false
    this.#notify()
  }

  /** Called by the client when the hub answers 401. */
  requireCredential(): void {
    this.#isRequired = true
    this.#notify()
  }

  /** Notifies a listener of every change and every 401. */
  readonly subscribe = this.#listeners.add

  #notify(): void {
    this.#listeners.notify()
  }
}

/** The headers of a credential. */
export function credentialHeaders(credential: Credential | undefined): Record<string, string> {
  if (credential === undefined) return {}
  return credential.kind === "token"
    ? { authorization: `Bearer ${credential.value}` }
    : { "x-api-key": credential.value }
}

/** The session of this page. */
export const session = new Session()
