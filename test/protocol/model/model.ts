/** What is expected of one request. */
export interface Request {
  readonly kind: "call" | "stream"
  /** Its place among the requests of the run. */
  readonly index: number
  readonly window: number
  readonly idleTimeout: number | undefined
  readonly deadlineAfter: number | undefined
  /** Its request is out; a stream's not before the first item is wanted. */
  isSent: boolean
  isOver: boolean
  /** Whoever waits for it gave up before its end, so that the other side is notified. */
  leaves: number
  /** When it ends by itself. */
  due: number
  /** A stream: items that wait to be taken, the last number that came, and whether someone waits. */
  buffer: number[]
  seq: number
  isWaiting: boolean
  idleDue: number
  /** Its signal fired before it was sent. */
  firedEarly: boolean
  /** A stream's error that was not reported yet. */
  untold: string | undefined
  readonly outcomes: string[]
}

const NEVER = Number.POSITIVE_INFINITY

/** The protocol as seen by a caller, in as few words as possible. */
export class Model {
  readonly requests: Request[] = []
  readonly timeout: number
  time = 0
  isDown = false
  isClosed = false
  dropped = 0

  constructor(timeout: number) {
    this.timeout = timeout
  }

  get pending(): number {
    return this.requests.filter(({ isSent, isOver }) => isSent && !isOver).length
  }

  request(
    kind: Request["kind"],
    deadlineAfter: number | undefined,
    idleTimeout: number | undefined,
    window: number,
  ): Request {
    const request: Request = {
      kind,
      index: this.requests.length,
      window,
      idleTimeout,
      deadlineAfter: deadlineAfter === undefined ? undefined : this.time + deadlineAfter,
      isSent: false,
      isOver: false,
      leaves: 0,
      due: NEVER,
      buffer: [],
      seq: 0,
      isWaiting: false,
      idleDue: NEVER,
      firedEarly: false,
      untold: undefined,
      outcomes: [],
    }
    this.requests.push(request)
    if (kind === "call") this.send(request)
    return request
  }

  send(request: Request): void {
    const { deadlineAfter, kind } = request
    if (request.isOver) return
    if (this.isClosed) return this.fail(request, "UNAVAILABLE")
    if (request.firedEarly) return this.fail(request, "ABORTED")
    const otherwise = kind === "call" ? this.time + this.timeout : NEVER
    request.due = deadlineAfter ?? otherwise
    if (request.due <= this.time) return this.fail(request, "TIMEOUT")
    if (this.isDown) return this.fail(request, "UNAVAILABLE")
    request.isSent = true
  }

  /** The end, reported to whoever waits, or to the next read. */
  fail(request: Request, code: string): void {
    if (request.isOver) return
    request.isOver = true
    if (request.kind === "call" || request.isWaiting) request.outcomes.push(code)
    else request.untold = code
    request.isWaiting = false
  }

  /** This side gives up, and says so when it can. */
  leave(request: Request, code: string): void {
    if (request.isOver) return
    if (request.isSent && !this.isDown) request.leaves++
    this.fail(request, code)
  }

  take(request: Request): void {
    if (!request.isSent) this.send(request)
    const item = request.buffer.shift()
    if (item !== undefined) request.outcomes.push(String(item))
    else if (request.isOver) {
      request.outcomes.push(request.untold ?? "done")
      request.untold = undefined
    } else {
      request.isWaiting = true
      if (request.idleTimeout !== undefined) request.idleDue = this.time + request.idleTimeout
    }
  }

  /** An item with this number comes. */
  item(request: Request, seq: number): void {
    if (!isOpen(request) || seq <= request.seq) return
    if (seq > request.seq + 1) return this.leave(request, "DATA_LOSS")
    request.seq = seq
    if (request.isWaiting) {
      request.isWaiting = false
      request.idleDue = NEVER
      request.outcomes.push(String(seq))
    } else if (request.buffer.length >= request.window) this.leave(request, "SLOW_CONSUMER")
    else request.buffer.push(seq)
  }

  complete(request: Request, seq: number): void {
    if (!isOpen(request)) return
    if (seq !== request.seq) return this.leave(request, "DATA_LOSS")
    request.isOver = true
    if (request.isWaiting) request.outcomes.push("done")
    request.isWaiting = false
  }

  /** The consumer leaves: nothing more is reported, and nothing waits. */
  return(request: Request): void {
    if (isOpen(request) && !this.isDown) request.leaves++
    if (request.isWaiting) request.outcomes.push("done")
    request.isWaiting = false
    request.isOver = true
    request.buffer = []
    request.untold = undefined
  }

  runTo(time: number): void {
    this.time = time
    for (const request of this.requests) {
      const idle = request.isWaiting ? request.idleDue : NEVER
      if (isOpen(request) && Math.min(request.due, idle) <= time) this.leave(request, "TIMEOUT")
    }
  }

  close(): void {
    if (this.isClosed) return
    for (const request of this.requests) if (isOpen(request)) this.leave(request, "ABORTED")
    this.isClosed = true
  }
}

/** Sent, and not over. */
export function isOpen({ isSent, isOver }: Request): boolean {
  return isSent && !isOver
}
