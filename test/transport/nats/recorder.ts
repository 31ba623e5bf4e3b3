import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import type { CallError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { systemClock } from "../../../src/internal/clock.ts"
import type { Logger } from "../../../src/internal/logger.ts"
import type { Bus, MessageOrigin, BusReceiver } from "../../../src/transport/bus/types.ts"
import { NatsBus } from "../../../src/transport/nats/bus.ts"
import type { NatsBusParts } from "../../../src/transport/nats/bus.ts"
import { resolveTarget } from "../../../src/transport/nats/servers.ts"
import { startNats } from "../../support/brokers.ts"
import { PATIENCE } from "../../support/patience.ts"

/** Records what a bus reports. */
export class Recorder implements BusReceiver {
  readonly fromCallers: { readonly text: string; readonly caller: MessageOrigin }[] = []
  readonly fromWorkers: string[] = []
  readonly unanswered: string[] = []
  readonly states: ("up" | "down")[] = []
  readonly failures: CallError[] = []
  /** Why calls would fail until the broker is reached again. */
  readonly refusals: CallError[] = []
  readonly denials: { readonly correlationId: string; readonly error: CallError }[] = []
  /** Called with each message of a caller, after it was written down. */
  onCaller: ((text: string, caller: MessageOrigin) => void) | undefined

  fromCaller(text: string, caller: MessageOrigin): void {
    this.fromCallers.push({ text, caller })
    this.onCaller?.(text, caller)
  }

  fromWorker(text: string): void {
    this.fromWorkers.push(text)
  }

  noResponders(correlationId: string): void {
    this.unanswered.push(correlationId)
  }

  connected(): void {
    this.states.push("up")
  }

  disconnected(_reason?: string, error?: CallError): void {
    if (error === undefined) this.states.push("down")
    else this.refusals.push(error)
  }

  failed(error: CallError): void {
    this.failures.push(error)
  }

  denied(correlationId: string, error: CallError): void {
    this.denials.push({ correlationId, error })
  }
}

export interface OpenBus extends AsyncDisposable {
  readonly bus: Bus
  readonly recorder: Recorder
}

/** A bus on a server, and a recorder of what it reports. */
export function openBus(
  from: string | NatsBusParts["from"],
  options: Partial<Omit<NatsBusParts, "from">> = {},
): OpenBus {
  const target = typeof from === "string" ? resolveTarget("test", from) : from
  const bus = new NatsBus({
    user: "anyone",
    prefix: "operations",
    clock: systemClock,
    logger: silentLogger,
    ...options,
    from: target,
  })
  const recorder = new Recorder()
  bus.open(recorder)
  return { bus, recorder, [Symbol.asyncDispose]: () => bus.close() }
}

/** A logger that keeps its lines. */
export function keepingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = []
  const write =
    (level: string) =>
    (message: string): void =>
      void lines.push(`${level}: ${message}`)
  return {
    lines,
    debug: () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  }
}

/** Waits until a bus is connected, or is not. */
export async function isUp({ bus }: OpenBus, does = true): Promise<void> {
  await until(() => bus.isConnected === does)
}

/** Waits for something, and leaves no timer behind. */
export async function until(check: () => boolean): Promise<void> {
  for (const end = Date.now() + PATIENCE; !check(); await sleep(10)) {
    if (Date.now() > end) throw new Error(`It never comes to this: ${String(check)}`)
  }
}

/** Sockets and timers that hold this process. */
export function held(): number {
  return process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout|GetAddrInfo/.test(kind))
    .length
}

/** Waits until a bus hears what it sends to any that serves an operation. */
export async function works({ bus, recorder }: OpenBus, id = "demo.greet"): Promise<void> {
  const before = recorder.fromCallers.length
  let at = 0
  const send = (): number => {
    bus.toAny(id, "x", `w${at++}`)
    return recorder.fromCallers.length
  }
  await expect.poll(send).toBeGreaterThan(before)
}

/**
 * Waits until a caller hears a worker: the broker knows the subscriptions of both by then. An announcement reaches only
 * those who have subscribed, so it is repeated, and forgotten once the last one has arrived.
 */
export async function hears(caller: OpenBus, worker: OpenBus): Promise<void> {
  const { fromWorkers } = caller.recorder
  let sent = 0
  const announce = (): string[] => {
    worker.bus.announce(`here ${++sent}`)
    return fromWorkers
  }
  await expect.poll(announce).not.toEqual([])
  await expect.poll(() => fromWorkers).toContain(`here ${sent}`)
  fromWorkers.length = 0
}

/** A port that nobody listens on. */
export async function portOfNobody(): Promise<number> {
  await using broker = await startNats()
  return broker.port
}

/** Waits for the last of what a bus has sent to itself. */
export async function settled({ bus, recorder }: OpenBus): Promise<void> {
  bus.control(bus.address, "settled", "s1")
  await expect.poll(() => recorder.fromCallers.at(-1)?.text).toBe("settled")
}
