import { describe, expect, test } from "vitest"
import type { ResolvedSource, SourceConfig } from "../../src/config.ts"
import type { Hub, SourceState, SourceStatus } from "../../src/hub/model.ts"
import { hasNeededSources } from "../../src/hub/serve-hub.ts"
import { configOf, sourceOf } from "./plain.ts"

function hubWith(
  sources: readonly (readonly [config: SourceConfig, state: SourceState, operations?: number])[],
): Hub {
  const settled: ResolvedSource[] = sources.map(([config], at) => sourceOf(`s${at}`, config))
  const statuses = sources.map(([, state, operations = 0], at): SourceStatus => {
    const { name, kind, namespace } = settled[at] as ResolvedSource
    return { name, kind, namespace, origin: "", state, operations, attempts: 0 }
  })
  return { config: configOf(settled), sources: statuses } as unknown as Hub
}

describe("readiness of a hub", () => {
  test.each<[string, Parameters<typeof hubWith>[0], boolean]>([
    ["without sources", [], true],
    ["whatever a folder does", [[{ scan: "." }, "failed"]], true],
    ["whatever another hub does", [[{ remote: "https://a.b" }, "lost", 3]], true],
    ["with its broker", [[{ remote: "nats://a" }, "ready", 3]], true],
    ["with a broker that is switched off", [[{ remote: "redis://a" }, "disabled"]], true],
    ["while a broker is opened anew", [[{ remote: "tls://a" }, "loading", 3]], true],
    ["but not before it is opened", [[{ remote: "rediss://a" }, "loading"]], false],
    ["but not without its broker", [[{ remote: "nats://a" }, "lost", 3]], false],
    ["but not while one cannot be opened", [[{ remote: "nats://a" }, "failed"]], false],
    ["where a broker may be away", [[{ remote: "nats://a", required: false }, "lost"]], true],
    ["but not without what it requires", [[{ scan: ".", required: true }, "failed"]], false],
    ["where calls have to find out", [[{ openapi: "a.json", required: true }, "lost", 3]], true],
    ["by an address that is not known yet", [[{ remote: "${env:BROKER}" }, "failed"]], true],
    [
      "but not if one of several is away",
      [
        [{ remote: "nats://a" }, "ready", 1],
        [{ remote: "redis://a" }, "lost", 1],
      ],
      false,
    ],
  ])("%s", (_, sources, isReady) => {
    expect(hasNeededSources(hubWith(sources))).toBe(isReady)
  })
})
