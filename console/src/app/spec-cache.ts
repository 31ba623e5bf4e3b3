import type { OperationSpec } from "../api/model.ts"
import { asError } from "./as-error.ts"

/** What is known of one operation. */
export interface SpecState {
  readonly status: "loading" | "ready" | "failed"
  readonly spec?: OperationSpec | undefined
  readonly error?: Error | undefined
}

interface Entry {
  state: SpecState
  /** The text of the spec: one that came again and is the same stays the same object. */
  text: string
  isFresh: boolean
  loading: AbortController | undefined
}

const LOADING: SpecState = { status: "loading" }
/** Specs of large APIs are large; those looked at last are kept. */
const MOST = 100

/** Specs that have been read, and those on their way. */
export class SpecCache {
  readonly #describe: (id: string, signal: AbortSignal) => Promise<OperationSpec>
  readonly #tell: () => void
  readonly #entries = new Map<string, Entry>()

  constructor(
    describe: (id: string, signal: AbortSignal) => Promise<OperationSpec>,
    tell: () => void,
  ) {
    this.#describe = describe
    this.#tell = tell
  }

  get(id: string): SpecState {
    return this.#entries.get(id)?.state ?? LOADING
  }

  /** Asks for a spec that is not known, or may have changed, or could not be read. */
  want(id: string): void {
    const entry = this.#touch(id)
    if (entry.isFresh || entry.loading !== undefined) return
    // A promise that never rejects.
    void this.#load(id, entry)
  }

  /** Each is asked for again when it is wanted next; until then it is shown as it was. */
  expire(): void {
    for (const entry of this.#entries.values()) entry.isFresh = false
  }

  clear(): void {
    for (const { loading } of this.#entries.values()) loading?.abort()
    this.#entries.clear()
  }

  /** The entry of an id, as the one used last. */
  #touch(id: string): Entry {
    const entry = this.#entries.get(id) ?? {
      state: LOADING,
      text: "",
      isFresh: false,
      loading: undefined,
    }
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    for (const [oldest, { loading }] of this.#entries) {
      if (this.#entries.size <= MOST) break
      loading?.abort()
      this.#entries.delete(oldest)
    }
    return entry
  }

  async #load(id: string, entry: Entry): Promise<void> {
    const controller = new AbortController()
    entry.loading = controller
    if (entry.state.status === "failed") this.#become(entry, LOADING)
    try {
      const spec = await this.#describe(id, controller.signal)
      if (controller.signal.aborted) return
      const text = JSON.stringify(spec)
      entry.isFresh = true
      if (text !== entry.text) {
        entry.text = text
        this.#become(entry, { status: "ready", spec })
      }
    } catch (error) {
      if (controller.signal.aborted) return
      entry.text = ""
      this.#become(entry, { status: "failed", error: asError(error) })
    } finally {
      if (entry.loading === controller) entry.loading = undefined
    }
  }

  #become(entry: Entry, state: SpecState): void {
    entry.state = state
    this.#tell()
  }
}
