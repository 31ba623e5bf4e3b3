import { isCallError } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { ServedOperations } from "../../../protocol/transport.ts"
import { frameOverhead } from "../wire/frame-builder.ts"
import type { Bus } from "../types.ts"
import { frameText, markOf, messageText } from "../wire/wire.ts"
import { isCompatible, isVersion } from "../wire/versions.ts"
import { notServing, wrongVersion } from "./refusals.ts"

/** Characters of a mark with its number and all around it, at most. */
const MARK_LENGTH = 24
/** The same of a mark with a version. */
const VERSION_LENGTH = 90
const CHANGED = messageText({ type: "changed" })
const BYE = messageText({ type: "bye" })
/** What every served registry has besides its own, and what may be run twice among it. */
const BUILT_IN: ReadonlySet<string> = new Set(["services.list", "services.schema"])

/** What a worker serves, and telling others of it. */
export class WorkerOffer {
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #logger: Logger
  #served: ServedOperations | undefined
  #hasLeft = false
  #stopListening: (() => void) | undefined
  #isIdempotent: ReadonlyMap<string, boolean> = new Map()
  /** What there is to say, until it changes. */
  #here: string | undefined
  #isDue = false

  constructor(bus: Bus, clock: Clock, logger: Logger) {
    this.#bus = bus
    this.#clock = clock
    this.#logger = logger
  }

  get isOpen(): boolean {
    return this.#served !== undefined && !this.#hasLeft
  }

  /** Takes requests from now on. */
  serve(served: ServedOperations): void {
    this.#stopListening?.()
    this.#served = served
    this.#hasLeft = false
    this.#stopListening = served.onChange(this.#onChange)
    this.#look()
    this.#tell([this.#hereText()])
  }

  /** Takes no more, and says so. */
  leave(): void {
    if (!this.isOpen) return
    this.#hasLeft = true
    this.#stopListening?.()
    this.#bus.serve(undefined)
    this.#tell([BYE])
  }

  /** Says what is served, to all. How much fits into a message may have changed. */
  announce(): void {
    this.#here = undefined
    const text = this.answer()
    if (text !== undefined) this.#tell([text])
  }

  /** What to say to somebody who asks; nothing where nothing was ever served. */
  answer(): string | undefined {
    if (this.isOpen) return this.#hereText()
    return this.#hasLeft ? BYE : undefined
  }

  isIdempotent(operationId: string): boolean {
    return BUILT_IN.has(operationId) || this.#isIdempotent.get(operationId) === true
  }

  /** Why no further call would be taken now, of somebody who imported this version. */
  refuse(operationId: string, imported: string | undefined): CallError | undefined {
    if (this.#served === undefined || this.#hasLeft) return notServing(operationId)
    const version = imported === undefined ? undefined : this.#served.versionOf?.(operationId)
    if (imported !== undefined && version !== undefined && !isCompatible(version, imported)) {
      return wrongVersion(operationId, imported, version)
    }
    return this.#served.refuse(operationId)
  }

  /** A change of many operations is one change. */
  readonly #onChange = (): void => {
    if (this.#isDue) return
    this.#isDue = true
    const tell = (): void => {
      this.#isDue = false
      if (!this.isOpen) return
      this.#look()
      this.#tell([CHANGED, this.#hereText()])
    }
    if (this.#clock.defer === undefined) this.#clock.setTimeout(tell, 0)
    else this.#clock.defer(tell)
  }

  #look(): void {
    const list = this.#served?.list() ?? []
    this.#isIdempotent = new Map(list.map(({ id, isIdempotent }) => [id, isIdempotent]))
    this.#here = undefined
    this.#bus.serve([...this.#isIdempotent.keys()])
  }

  #hereText(): string {
    this.#here ??= this.#describe()
    return this.#here
  }

  /** As many as fit: callers find the others through the broker. */
  #describe(): string {
    const room = this.#bus.maxPayload - frameOverhead(this.#bus.address) - 200
    const { version, others } = this.#versions()
    const length = others.size === 0 ? MARK_LENGTH : MARK_LENGTH + VERSION_LENGTH
    const most = Math.max(0, Math.floor(room / length))
    const told = [...this.#isIdempotent].slice(0, most)
    const marks = told.map(([id, isIdempotent]) => [markOf(id), isIdempotent ? 1 : 0] as const)
    const versions = told.flatMap(([id]) => {
      const other = others.get(id)
      return other === undefined ? [] : [[markOf(id), other] as const]
    })
    return messageText({
      type: "here",
      operations: Object.fromEntries(marks),
      version,
      ...(versions.length > 0 && { versions: Object.fromEntries(versions) }),
    })
  }

  /** The version that most have, and those of the others by their ids. */
  #versions(): { version: string | undefined; others: ReadonlyMap<string, string> } {
    const all = new Map<string, string>()
    const counts = new Map<string, number>()
    for (const id of this.#isIdempotent.keys()) {
      const version = this.#served?.versionOf?.(id)
      if (!isVersion(version)) continue
      all.set(id, version)
      counts.set(version, (counts.get(version) ?? 0) + 1)
    }
    // One that cannot be announced must not be taken for that of the others.
    if (all.size < this.#isIdempotent.size) return { version: undefined, others: all }
    const [[version] = []] = [...counts].toSorted(([, one], [, other]) => other - one)
    return { version, others: new Map([...all].filter(([, own]) => own !== version)) }
  }

  #tell(texts: readonly string[]): void {
    if (!this.#bus.isConnected) return
    try {
      this.#bus.announce(frameText(this.#bus.address, texts))
    } catch (error) {
      const code = isCallError(error) ? error.code : undefined
      this.#logger.debug("What is served could not be announced", { code, error })
    }
  }
}
