import { Listeners } from "../../../src/internal/listeners.ts"
import type { Credential } from "./model.ts"

/** A credential that the hub accepted, and the id of its identity. */
export interface KnownIdentity {
  readonly credential: Credential
  /** `undefined` until the hub has sent it. */
  readonly name: string | undefined
}

const KEY = "operations.credential"

/**
 * The credentials that were entered in this page; one of them is in use.
 *
 * They are stored only where the user has chosen so: the one in use, for as long as the tab is open.
 */
export class Session {
  readonly #shelf: (() => Storage) | undefined
  #isKept = false
  #credential: Credential | undefined
  #identities: readonly KnownIdentity[] = []
  #isRequired = false
  readonly #listeners = new Listeners()

  constructor(shelf?: () => Storage) {
    this.#shelf = shelf
    const kept = this.#read()
    if (kept === undefined) return
    this.#isKept = true
    this.setCredential(kept)
  }

  get credential(): Credential | undefined {
    return this.#credential
  }

  /** Keeps the credential in use over a reload of the tab, or no longer. */
  keep(isKept: boolean): void {
    this.#isKept = isKept
    this.#write()
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
    this.#write()
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

  #read(): Credential | undefined {
    try {
      const { kind, value } = JSON.parse(this.#shelf?.().getItem(KEY) ?? "{}") as Credential
      return (kind === "key" || kind === "token") && typeof value === "string"
        ? { kind, value }
        : undefined
    } catch {
      // Blocked, or from another version.
      return undefined
    }
  }

  #write(): void {
    try {
      if (this.#isKept && this.#credential !== undefined) {
        this.#shelf?.().setItem(KEY, JSON.stringify(this.#credential))
      } else this.#shelf?.().removeItem(KEY)
    } catch {
      // It stays in memory.
    }
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
export const session = new Session(() => sessionStorage)
