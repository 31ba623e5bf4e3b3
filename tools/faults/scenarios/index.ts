import type { Scenario } from "../scenario.ts"
import { allGone } from "./all-gone.ts"
import {
  badListeners,
  brokerAbsent,
  brokerFrozen,
  brokerGone,
  brokerRefuses,
  brokerRestarted,
  clusterLoss,
} from "./broker.ts"
import { dateSteps, wrongClocks } from "./clocks.ts"
import { crashLoop } from "./crash-loop.ts"
import { herd, hotOperation, manyInFlight, overload } from "./crowd.ts"
import { drainInFlight, rollingRestart } from "./drain.ts"
import { hostileDeadlines } from "./deadlines.ts"
import { deadServer, dyingChild, hubDrained, hubReloaded, hubRestarted } from "./hub.ts"
import { keysEmptied, keysFrozen, keysUnanswered } from "./keys.ts"
import { cuts, damage, latency, oneWayLoss } from "./network.ts"
import { payload } from "./payload.ts"
import {
  earlyLeave,
  frozenConsumer,
  killedMidStream,
  manyStreams,
  oneFrozenOfMany,
  slowConsumer,
} from "./streams.ts"
import { truncatedAnswers } from "./truncated.ts"
import { twoVersions } from "./versions.ts"
import { workerBlocked, workerFrozen, workerFrozenLong, workerHalfOpen } from "./worker-frozen.ts"
import { workerKilled, workerKilledIdempotent } from "./worker-killed.ts"

/** The fault matrix. */
export const SCENARIOS: readonly Scenario[] = [
  workerKilled,
  workerKilledIdempotent,
  crashLoop,
  workerFrozen,
  workerFrozenLong,
  workerBlocked,
  workerHalfOpen,
  allGone,
  rollingRestart,
  drainInFlight,
  brokerRestarted,
  brokerGone,
  brokerFrozen,
  brokerRefuses,
  brokerAbsent,
  latency,
  cuts,
  oneWayLoss,
  damage,
  payload,
  manyInFlight,
  overload,
  hotOperation,
  herd,
  slowConsumer,
  frozenConsumer,
  earlyLeave,
  killedMidStream,
  oneFrozenOfMany,
  manyStreams,
  wrongClocks,
  twoVersions,
  dateSteps,
  dyingChild,
  hubRestarted,
  deadServer,
  truncatedAnswers,
  badListeners,
  clusterLoss,
  keysFrozen,
  keysEmptied,
  keysUnanswered,
  hubDrained,
  hubReloaded,
  hostileDeadlines,
]
