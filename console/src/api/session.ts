import { Listeners } from "../../../src/internal/listeners.ts"
import type { Credential } from "./model.ts"

/** A credential that the hub accepted, and the id of its identity. */
export interface KnownIdentity {
  readonly credential: Credential
  /** `undefined` until the hub has sent it. */
  readonly name: string | undefined
}

/** The credentials that were entered in this page; one of them is in use. They are never stored. */
export class Session {
  #credential: Credential | undefined
  #identities: readonly KnownIdentity[] = []
  #isRequired = false
  readonly #listeners = new Listeners()

  get credential(): Credential | undefined {
    return this.#credential
  }

  /** Whether the hub has asked for a credential. */
  get isRequired(): boolean {
    return this.#isRequired
  }

  /** Every credential that was entered, the one in use included. */
  readonly identities = (): readonly KnownIdentity[] => this.#identities

  /** Uses a credential from now on, and keeps the earlier ones; `undefined` forgets the one in use. */
  setCredential(credential: Credential | undefined): void {
    const others = this.#identities.filter(
      (one) => one.credential !== (credential ?? this.#credential) && !isSame(one, credential),
    )
    const existing = this.#identities.find((one) => isSame(one, credential))
    this.#identities =
      credential === undefined ? others : [...others, { credential, name: existing?.name }]
    this.#credential = credential
    this.#isRequired = false
    this.#notify()
  }

  /** Sets the name of the credential in use: the id of its identity on the hub. */
  setName(name: string | undefined): void {
    const current = this.#identities.find(({ credential }) => credential === this.#credential)
    if (current === undefined || current.name === name) return
    this.#identities = this.#identities.map((one) => (one === current ? { ...one, name } : one))
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

function isSame({ credential }: KnownIdentity, other: Credential | undefined): boolean {
  return credential.kind === other?.kind && credential.value === other.value
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
