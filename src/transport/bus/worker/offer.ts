import { isCallError, type CallError } from "../../../core/errors.ts"
import { deferOn } from "../../../internal/clock.ts"
import type { ServedOperations } from "../../../protocol/transport.ts"
import { frameOf, frameOverhead } from "../wire/frames.ts"
import type { BusContext } from "../options.ts"
import { messageText } from "../wire/messages.ts"
import { hashOperationId } from "../wire/wire.ts"
import { isCompatible, isVersion } from "../wire/versions.ts"
import { notServing, wrongVersion } from "./refusals.ts"

/** The maximum length of a hash with its number and punctuation. */
const HASH_LENGTH = 24
/** The maximum length of a hash with a version. */
const VERSION_LENGTH = 90
const CHANGED = messageText({ type: "changed" })
const BYE = messageText({ type: "bye" })
/** The idempotent built-in operations of every served registry. */
const BUILT_IN: ReadonlySet<string> = new Set(["services.list", "services.schema"])

/** The operations that a worker serves, and their announcement. */
export class WorkerOffer {
  readonly #context: BusContext
  #served: ServedOperations | undefined
  #hasLeft = false
  #stopListening: (() => void) | undefined
  #isIdempotent: ReadonlyMap<string, boolean> = new Map()
  /** The cached announcement. */
  #here: string | undefined
  #isDue = false

  constructor(context: BusContext) {
    this.#context = context
  }

  get isOpen(): boolean {
    return this.#served !== undefined && !this.#hasLeft
  }

  serve(served: ServedOperations): void {
    this.#stopListening?.()
    this.#served = served
    this.#hasLeft = false
    this.#stopListening = served.onChange(this.#onChange)
    this.#readServed()
    this.#broadcast([this.#hereText()])
  }

  /** Stops serving, and announces it. */
  leave(): void {
    if (!this.isOpen) return
    this.#hasLeft = true
    this.#stopListening?.()
    this.#context.bus.serve(undefined)
    this.#broadcast([BYE])
  }

  /** Announces the operations to all. How many fit into a message may have changed. */
  announce(): void {
    this.#here = undefined
    const text = this.answer()
    if (text !== undefined) this.#broadcast([text])
  }

  /** The answer to a caller that asks what is served; `undefined` if nothing ever was. */
  answer(): string | undefined {
    if (this.isOpen) return this.#hereText()
    return this.#hasLeft ? BYE : undefined
  }

  isIdempotent(operationId: string): boolean {
    return BUILT_IN.has(operationId) || this.#isIdempotent.get(operationId) === true
  }

  /** The error for a further call now by a caller that imported this version; `undefined` while there is room. */
  refuse(operationId: string, imported: string | undefined): CallError | undefined {
    if (this.#served === undefined || this.#hasLeft) return notServing(operationId)
    const version = imported === undefined ? undefined : this.#served.versionOf?.(operationId)
    if (imported !== undefined && version !== undefined && !isCompatible(version, imported)) {
      return wrongVersion(operationId, imported, version)
    }
    return this.#served.refuse(operationId)
  }

  /** Announces changes once per turn. */
  readonly #onChange = (): void => {
    if (this.#isDue) return
    this.#isDue = true
    const broadcast = (): void => {
      this.#isDue = false
      if (!this.isOpen) return
      this.#readServed()
      this.#broadcast([CHANGED, this.#hereText()])
    }
    deferOn(this.#context.clock, broadcast)
  }

  #readServed(): void {
    const list = this.#served?.list() ?? []
    this.#isIdempotent = new Map(list.map(({ id, isIdempotent }) => [id, isIdempotent]))
    this.#here = undefined
    this.#context.bus.serve([...this.#isIdempotent.keys()])
  }

  /** The announcement of as many operations as fit: callers find the others through the broker. */
  #hereText(): string {
    if (this.#here !== undefined) return this.#here
    const { maxPayload, address } = this.#context.bus
    const room = maxPayload - frameOverhead(address) - 200
    const { version, others } = this.#versions()
    const length = others.size === 0 ? HASH_LENGTH : HASH_LENGTH + VERSION_LENGTH
    const most = Math.max(0, Math.floor(room / length))
    const operations: Record<string, 0 | 1> = {}
    const versions: Record<string, string> = {}
    for (const [id, isIdempotent] of [...this.#isIdempotent].slice(0, most)) {
      const hash = hashOperationId(id)
      const other = others.get(id)
      operations[hash] = isIdempotent ? 1 : 0
      if (other !== undefined) versions[hash] = other
    }
    const own = others.size > 0 && { versions }
    return (this.#here = messageText({ type: "here", operations, version, ...own }))
  }

  /** The most common version, and the other versions by operation id. */
  #versions(): { version: string | undefined; others: ReadonlyMap<string, string> } {
    const all = new Map<string, string>()
    const counts = new Map<string, number>()
    for (const id of this.#isIdempotent.keys()) {
      const version = this.#served?.versionOf?.(id)
      if (!isVersion(version)) continue
      all.set(id, version)
      counts.set(version, (counts.get(version) ?? 0) + 1)
    }
    // An operation whose version cannot be announced must not be taken to have the common one.
    if (all.size < this.#isIdempotent.size) return { version: undefined, others: all }
    const [[version] = []] = [...counts].toSorted(([, one], [, other]) => other - one)
    return { version, others: new Map([...all].filter(([, own]) => own !== version)) }
  }

  #broadcast(texts: readonly string[]): void {
    const { bus, logger } = this.#context
    if (!bus.isConnected) return
    try {
      bus.announce(frameOf(bus.address, texts.join(",")))
    } catch (error) {
      const code = isCallError(error) ? error.code : undefined
      logger.debug("The served operations could not be announced", { code, error })
    }
  }
}
