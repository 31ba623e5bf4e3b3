import { hashOperationId } from "../wire/wire.ts"
import { Offer } from "./model.ts"

/** Ids that are safe as part of an address. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/
const MAX_ID_LENGTH = 256
/** Bounds for ids, which callers choose: beyond them, operations without workers are forgotten. */
const MAX_IDS = 10_000
const MAX_HASHES = 100_000

/** Operations and their workers, by id and by hash. */
export class Offers {
  readonly #byHash = new Map<string, Offer>()
  readonly #byId = new Map<string, Offer>()

  /** The offer of an operation; `undefined` for an invalid id. */
  of(operationId: string): Offer | undefined {
    const cached = this.#byId.get(operationId)
    if (cached !== undefined) return cached
    if (operationId.length > MAX_ID_LENGTH || !SAFE.test(operationId)) return undefined
    if (this.#byId.size >= MAX_IDS) this.#byId.clear()
    const offer = this.byHash(hashOperationId(operationId))
    this.#byId.set(operationId, offer)
    return offer
  }

  byHash(operationHash: string): Offer {
    let offer = this.#byHash.get(operationHash)
    if (offer === undefined) {
      if (this.#byHash.size >= MAX_HASHES) this.#forgetUnserved()
      offer = new Offer(operationHash)
      this.#byHash.set(operationHash, offer)
    }
    return offer
  }

  #forgetUnserved(): void {
    this.#byId.clear()
    for (const [operationHash, { workers }] of this.#byHash) {
      if (workers.length === 0) this.#byHash.delete(operationHash)
    }
  }
}
