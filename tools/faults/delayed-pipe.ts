import type { Socket } from "node:net"

/** The faults of a pipe. */
export interface PipeFaults {
  readonly delay?: number | undefined
  readonly jitter?: number | undefined
  readonly bytesPerSecond?: number | undefined
  readonly flip?: number | undefined
  readonly isStalled: boolean
}

/** The buffer of a pipe in bytes; beyond it the sender is paused. */
const MAX_BYTES = 1024 * 1024

/** One direction of a connection: bytes arrive in order, but later, slower, or stalled. */
export class DelayedPipe {
  /** The number of chunks with a flipped bit. */
  damaged = 0
  readonly #from: Socket
  readonly #to: Socket
  readonly #random: () => number
  readonly #allow: (bytes: number) => number
  readonly #waiting: { readonly bytes: Buffer; readonly dueAt: number }[] = []
  #faults: PipeFaults = { isStalled: false }
  #size = 0
  /** When the last queued chunk is due: later ones must not overtake it. */
  #lastDue = 0
  /** Chunks until the next one that is damaged. */
  #untilDamage = 0
  #isUsed = false
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false
  #isOver = false

  /** `allow` returns how many of these bytes still get through. */
  constructor(from: Socket, to: Socket, random: () => number, allow: (bytes: number) => number) {
    this.#from = from
    this.#to = to
    this.#random = random
    this.#allow = allow
    from.on("data", (bytes: Buffer) => this.#take(bytes))
    from.on("end", () => this.#ended())
    to.on("drain", () => this.#flush())
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  apply(faults: PipeFaults): void {
    const { flip = 0 } = faults
    // Soon in a connection that is in use: with little traffic, chance alone may damage nothing.
    if (flip > 0) this.#untilDamage = Math.floor(this.#random() * (this.#isUsed ? 5 : 2 / flip))
    this.#faults = faults
    this.#flush()
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#waiting.length = 0
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return
    const { delay = 0, jitter = 0, bytesPerSecond } = this.#faults
    const sending = bytesPerSecond === undefined ? 0 : (bytes.length / bytesPerSecond) * 1000
    const varied = delay + (this.#random() * 2 - 1) * jitter
    const dueAt = Math.max(Date.now() + Math.max(0, varied), this.#lastDue) + sending
    this.#lastDue = dueAt
    this.#waiting.push({ bytes, dueAt })
    this.#size += bytes.length
    if (this.#size > MAX_BYTES) this.#from.pause()
    this.#flush()
  }

  #ended(): void {
    this.#hasEnded = true
    this.#flush()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    if (this.#isOver || this.#faults.isStalled) return
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined) break
      const wait = next.dueAt - Date.now()
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#flush(), wait)
        return
      }
      if (this.#to.writableNeedDrain) return
      this.#waiting.shift()
      this.#write(next.bytes)
      if (this.#isOver) return
    }
    if (this.#hasEnded) this.#to.end()
  }

  #damage(bytes: Buffer): void {
    const { flip = 0 } = this.#faults
    this.#isUsed = true
    if (flip === 0 || this.#untilDamage-- > 0) return
    this.#untilDamage = Math.floor((this.#random() * 2) / flip)
    const at = Math.floor(this.#random() * bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(this.#random() * 8))
    this.damaged++
  }

  #write(bytes: Buffer): void {
    this.#size -= bytes.length
    const allowed = this.#allow(bytes.length)
    this.#damage(bytes)
    if (!this.#to.destroyed) this.#to.write(bytes.subarray(0, allowed))
    // The rest was to come after the place at which it broke.
    if (allowed < bytes.length) this.stop()
    else if (this.#size <= MAX_BYTES) this.#from.resume()
  }
}
