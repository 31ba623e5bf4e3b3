import { expect } from "vitest"
import type { CallError } from "../../../src/core/errors.ts"
import { systemClock } from "../../../src/internal/clock.ts"
import type { Logger } from "../../../src/index.ts"
import type { MessageOrigin, BusReceiver } from "../../../src/transport/bus/types.ts"
import { RedisBus } from "../../../src/transport/redis/bus.ts"
import { RedisChannels } from "../../../src/transport/redis/channels.ts"
import { connectionsTo } from "../../../src/transport/redis/ioredis.ts"
import { optionsOfUrl, reachOf } from "../../../src/transport/redis/reach.ts"

/** Records what a bus reports. */
export class BusRecorder implements BusReceiver {
  readonly calls: { readonly text: string; readonly caller: MessageOrigin }[] = []
  readonly answers: string[] = []
  readonly noResponderIds: string[] = []
  readonly denials: { readonly correlationId: string; readonly error: CallError }[] = []
  readonly story: string[] = []
  error: CallError | undefined

  fromCaller(text: string, caller: MessageOrigin): void {
    this.calls.push({ text, caller })
  }

  fromWorker(text: string): void {
    this.answers.push(text)
  }

  noResponders(correlationId: string): void {
    this.noResponderIds.push(correlationId)
  }

  denied(correlationId: string, error: CallError): void {
    this.denials.push({ correlationId, error })
  }

  connected(): void {
    this.story.push("connected")
  }

  disconnected(_reason?: string, error?: CallError): void {
    this.story.push(error === undefined ? "disconnected" : `refused: ${error.code}`)
  }

  failed(error: CallError): void {
    this.story.push("failed")
    this.error = error
  }
}

/** Keeps what is logged. */
export class Lines implements Logger {
  readonly warnings: string[] = []
  debug(): void {}
  info(): void {}
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.warnings.push(`${message} ${JSON.stringify(fields)}`)
  }
  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.warnings.push(`${message} ${JSON.stringify(fields)}`)
  }
}

export interface End extends AsyncDisposable {
  readonly bus: RedisBus
  readonly recorder: BusRecorder
  readonly lines: Lines
  readonly channels: RedisChannels
  /** A frame of this end, with something to tell it by. */
  frame(what: string): string
}

export interface EndOptions {
  readonly user?: string
  readonly prefix?: string
  readonly maxPayload?: number
  readonly connect?: object
  readonly connectTimeout?: number
}

/** A bus without a guard, opened. */
export function openEnd(url: string, options: EndOptions = {}): End {
  const { user = "anyone", prefix = "operations", maxPayload = 1024 * 1024 } = options
  const connect = { ...optionsOfUrl(url), ...options.connect }
  const address = crypto.randomUUID().replaceAll("-", "")
  const channels = new RedisChannels(prefix, user, address)
  const lines = new Lines()
  const bus = new RedisBus({
    address,
    channels,
    maxPayload,
    clock: systemClock,
    logger: lines,
    make: connectionsTo(connect),
    peer: reachOf(connect).peer,
    connectTimeout: options.connectTimeout ?? 5000,
  })
  const recorder = new BusRecorder()
  bus.open(recorder)
  return {
    bus,
    recorder,
    lines,
    channels,
    frame: (what) => `{"from":"${address}","messages":[${JSON.stringify(what)}]}`,
    [Symbol.asyncDispose]: () => bus.close(),
  }
}

/** The same, connected. */
export async function connectEnd(url: string, options: EndOptions = {}): Promise<End> {
  const end = openEnd(url, options)
  await expect.poll(() => end.bus.isConnected).toBe(true)
  return end
}

/** A worker, which can be asked. */
export async function connectWorker(url: string, options: EndOptions = {}): Promise<End> {
  const end = openEnd(url, options)
  end.bus.serve(["demo.greet"])
  await expect.poll(() => end.bus.isConnected).toBe(true)
  return end
}
