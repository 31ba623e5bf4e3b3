import type { KnownWorker } from "./known-worker.ts"
import { QueueTrust } from "./queue-trust.ts"
import { compareVersions, isCompatible } from "../wire/versions.ts"
import { markOf } from "../wire/wire.ts"

/** What a worker says of an operation that it serves. */
export interface Offered {
  /** It may be run twice without a second effect. */
  readonly isIdempotent: boolean
  /** `undefined` while it is not known. */
  readonly version: string | undefined
}

/** Who serves an operation. */
export class Offer {
  readonly mark: string
  readonly workers: KnownWorker[] = []
  readonly queue: QueueTrust = new QueueTrust()
  /** Somebody serves it, or once did. */
  wasServed = false
  /** How many of the workers say that it must not be run twice. */
  #unsafe = 0
  /** The versions that are served, and by how many workers. */
  readonly #versions = new Map<string, number>()

  constructor(mark: string) {
    this.mark = mark
  }

  /** It may be run twice without a second effect, whoever runs it; `undefined` while nobody is known to. */
  get isIdempotent(): boolean | undefined {
    return this.workers.length === 0 ? undefined : this.#unsafe === 0
  }

  /** What is served fits those who imported this version, whoever runs it; so far as it is known. */
  isAll(imported: string | undefined): boolean {
    if (imported === undefined || this.#versions.size === 0) return true
    const [version = imported, ...others] = this.#versions.keys()
    return others.length === 0 && isCompatible(version, imported)
  }

  /** The versions that these of its workers serve, the highest last. */
  versions(isMeant: (worker: KnownWorker) => boolean): string[] {
    const served = this.workers.filter(isMeant).map((worker) => worker.offers.get(this)?.version)
    return [...new Set(served.filter((version) => version !== undefined))].toSorted(compareVersions)
  }

  add(worker: KnownWorker, offered: Offered): void {
    this.remove(worker)
    worker.offers.set(this, offered)
    this.workers.push(worker)
    this.wasServed = true
    if (!offered.isIdempotent) this.#unsafe++
    this.#count(offered.version, 1)
  }

  remove(worker: KnownWorker): void {
    const offered = worker.offers.get(this)
    if (offered === undefined) return
    worker.offers.delete(this)
    this.workers.splice(this.workers.indexOf(worker), 1)
    if (!offered.isIdempotent) this.#unsafe--
    this.#count(offered.version, -1)
  }

  #count(version: string | undefined, change: 1 | -1): void {
    if (version === undefined) return
    const count = (this.#versions.get(version) ?? 0) + change
    if (count > 0) this.#versions.set(version, count)
    else this.#versions.delete(version)
  }
}

/** What every part of an address may hold, and nothing that could break out of one. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/
const LONGEST = 256
/** Ids come from whoever calls: beyond so many, those that nobody serves are forgotten. */
const MOST_IDS = 10_000
const MOST_MARKS = 100_000

/** Operations, and who serves them. */
export class Offers {
  readonly #byMark = new Map<string, Offer>()
  readonly #byId = new Map<string, Offer>()

  /** Who serves an operation; `undefined` for an id that could be none. */
  of(operationId: string): Offer | undefined {
    const known = this.#byId.get(operationId)
    if (known !== undefined) return known
    if (operationId.length > LONGEST || !SAFE.test(operationId)) return undefined
    if (this.#byId.size >= MOST_IDS) this.#byId.clear()
    const offer = this.marked(markOf(operationId))
    this.#byId.set(operationId, offer)
    return offer
  }

  /** The same by its mark. */
  marked(mark: string): Offer {
    let offer = this.#byMark.get(mark)
    if (offer === undefined) {
      if (this.#byMark.size >= MOST_MARKS) this.#forgetUnserved()
      offer = new Offer(mark)
      this.#byMark.set(mark, offer)
    }
    return offer
  }

  #forgetUnserved(): void {
    this.#byId.clear()
    for (const [mark, { workers }] of this.#byMark) {
      if (workers.length === 0) this.#byMark.delete(mark)
    }
  }
}
