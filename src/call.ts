// The call protocol: one way to call, whatever lies between the caller and the handler.

export { CallEventMap, CallEventSchema } from "./call-events.ts"
export type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallCreditEvent,
  CallErrorEvent,
  CallEvent,
  CallProgressEvent,
  CallRequestedEvent,
  CallRespondedEvent,
} from "./call-events.ts"
export { PendingRequestMap } from "./protocol/pending-request-map.ts"
export type {
  CallLink,
  PendingRequestMapOptions,
  PendingResponse,
  PendingSubscription,
} from "./protocol/pending-request-map.ts"
export type { PendingOptions } from "./protocol/pending-options.ts"
export { buildCallHandler, serveCalls } from "./protocol/serve.ts"
export type {
  CallHandler,
  CallHandlerConfig,
  CallHandlerOptions,
  CallServer,
  ServeCallsOptions,
} from "./protocol/serve.ts"
export type { CallPeer, ResolveIdentity, ServeLimits } from "./protocol/server.ts"
