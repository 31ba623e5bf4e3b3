import type { OperationSpec } from "../api/model.ts"
import { asError } from "./as-error.ts"

/** The state of one operation's spec. */
export interface SpecState {
  readonly status: "loading" | "ready" | "failed"
  readonly spec?: OperationSpec | undefined
  readonly error?: Error | undefined
}

interface Entry {
  state: SpecState
  /** The text of the spec, by which an unchanged spec keeps its object. */
  text: string
  isFresh: boolean
  loading: AbortController | undefined
}

const LOADING: SpecState = { status: "loading" }
/** Specs of large APIs are large; the most recently used ones are kept. */
const MAX_SPECS = 100

/** Loaded specs, and those being loaded. */
export class SpecCache {
  readonly #describe: (id: string, signal: AbortSignal) => Promise<OperationSpec>
  readonly #notify: () => void
  readonly #entries = new Map<string, Entry>()

  constructor(
    describe: (id: string, signal: AbortSignal) => Promise<OperationSpec>,
    notify: () => void,
  ) {
    this.#describe = describe
    this.#notify = notify
  }

  get(id: string): SpecState {
    return this.#entries.get(id)?.state ?? LOADING
  }

  /** Requests a spec that is missing, may have changed, or could not be loaded. */
  request(id: string): void {
    const entry = this.#touch(id)
    if (entry.isFresh || entry.loading !== undefined) return
    // A promise that never rejects.
    void this.#load(id, entry)
  }

  /** Marks all specs as outdated: each is loaded again at its next request, and displayed as it is until then. */
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
      if (this.#entries.size <= MAX_SPECS) break
      loading?.abort()
      this.#entries.delete(oldest)
    }
    return entry
  }

  async #load(id: string, entry: Entry): Promise<void> {
    const controller = new AbortController()
    entry.loading = controller
    if (entry.state.status === "failed") this.#setState(entry, LOADING)
    try {
      const spec = await this.#describe(id, controller.signal)
      if (controller.signal.aborted) return
      const text = JSON.stringify(spec)
      entry.isFresh = true
      if (text !== entry.text) {
        entry.text = text
        this.#setState(entry, { status: "ready", spec })
      }
    } catch (error) {
      if (controller.signal.aborted) return
      entry.text = ""
      this.#setState(entry, { status: "failed", error: asError(error) })
    } finally {
      if (entry.loading === controller) entry.loading = undefined
    }
  }

  #setState(entry: Entry, state: SpecState): void {
    entry.state = state
    this.#notify()
  }
}
