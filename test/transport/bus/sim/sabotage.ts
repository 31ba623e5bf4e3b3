import type { CallerMessage, WorkerMessage } from "../../../../src/transport/bus/wire/messages.ts"
import type { GuardOptions } from "../../../../src/transport/bus/options.ts"
import { readCallerFrame, readWorkerFrame } from "../../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "../messages.ts"
import type { Transport } from "../../../../src/protocol/transport.ts"
import type { Random } from "../../../protocol/sim/random.ts"
import type { Address, SimBroker } from "./broker.ts"
import type { SimBus } from "./bus.ts"
import type { Mood } from "./plan.ts"

type Message = CallerMessage | WorkerMessage
type Delay = (run: () => void, milliseconds: number) => void

/** Where a message is on its way, for a saboteur. */
export interface Way {
  readonly isToWorker: boolean
  readonly caller: SimBus
  readonly worker: SimBus
  readonly random: Random
  /** Tells the worker something in the caller's name. */
  readonly forge: (message: CallerMessage) => void
}

/** A way to break the guard on purpose, to see that the checks see it. */
export interface Sabotage {
  readonly name: string
  /** What the checks have to say about it. */
  readonly shows: RegExp
  /** The histories in which it shows; any when left out. */
  readonly mood?: Mood
  /** What arrives instead of a message. */
  readonly alter?: (message: Message, way: Way) => readonly Message[]
  /** What is sent to any goes to all who serve it. */
  readonly isDoubling?: boolean
  /** Settings that nobody should have. */
  readonly guard?: GuardOptions
  /** What callers and workers use instead of a transport. */
  readonly wrap?: (transport: Transport, delay: Delay) => Transport
  /** Changes the library itself; gives what changes it back. */
  readonly patch?: () => () => void
}

/** All is as it should be. */
export const NO_SABOTAGE: Sabotage = { name: "none", shows: /(?!)/ }

/** Lets a saboteur at a frame. */
export function tamper(
  text: string,
  { alter }: Sabotage,
  broker: SimBroker,
  source: SimBus,
  target: SimBus,
  address: Address,
  give: (text: string) => void,
): void {
  const isToWorker = address.to !== "caller" && address.to !== "everyone"
  const [caller, worker] = isToWorker ? [source, target] : [target, source]
  const forge = (message: CallerMessage): void =>
    broker.forge(caller, worker, frameText(caller.address, [messageText(message)]))
  const way: Way = { isToWorker, caller, worker, forge, random: broker.lab.random }
  const frame = isToWorker ? readCallerFrame(text) : readWorkerFrame(text)
  const messages = (frame?.messages ?? []) as readonly Message[]
  const altered = messages.flatMap((message) => alter?.(message, way) ?? [message])
  if (altered.length > 0) give(frameText(source.address, altered.map(messageText)))
}
