// The call protocol: one way to call, whatever is between the caller and the handler.

export { CallEventMap, CallEventSchema } from "../core/events.ts"
export type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallAnsweredEvent,
  CallAskedEvent,
  CallCreditEvent,
  CallErrorEvent,
  CallEvent,
  CallProgressEvent,
  CallRequestedEvent,
  CallRespondedEvent,
} from "../core/events.ts"
export { PendingRequestMap } from "./pending/request-map.ts"
export type { CallLink } from "./pending/request-map.ts"
export type {
  PendingRequestMapOptions,
  PendingResponse,
  PendingSubscription,
} from "./pending/requests.ts"
export type { PendingOptions } from "./pending/options.ts"
export { buildCallHandler, serveCalls } from "./server/serve.ts"
export type {
  CallHandler,
  CallHandlerConfig,
  CallHandlerOptions,
  CallServer,
  ServeCallsOptions,
} from "./server/serve.ts"
export type { CallPeer, ResolveIdentity, ServeLimits } from "./server/server.ts"
