import type { Credential } from "./model.ts"

/** Who this page is, for as long as it is open: nothing of it is stored. */
export class Session {
  #credential: Credential | undefined
  #isRequired = false
  readonly #listeners = new Set<() => void>()

  get credential(): Credential | undefined {
    return this.#credential
  }

  /** The hub refused to answer whoever this is. */
  get isRequired(): boolean {
    return this.#isRequired
  }

  /** Says who this page is from now on; nothing for nobody. */
  become(credential: Credential | undefined): void {
    this.#credential = credential
    this.#isRequired = false
    this.#tell()
  }

  /** Told by the client when the hub answers 401. */
  require(): void {
    this.#isRequired = true
    this.#tell()
  }

  /** Tells of every change and of every refusal. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** The headers that prove who calls. */
export function credentialHeaders(credential: Credential | undefined): Record<string, string> {
  if (credential === undefined) return {}
  return credential.kind === "token"
    ? { authorization: `Bearer ${credential.value}` }
    : { "x-api-key": credential.value }
}

/** That of this page. */
export const session = new Session()
