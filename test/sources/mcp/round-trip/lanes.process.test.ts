import { afterAll, beforeAll, describe } from "vitest"
import { testCalls } from "./calls.ts"
import { testChanges } from "./changes.ts"
import { GROUPS, testDefinitions } from "./definitions.ts"
import { testErrors } from "./errors.ts"
import { describeLanes, openLane } from "./lanes.ts"
import type { Pair } from "./lanes.ts"
import { testResults } from "./results.ts"

describeLanes("a gateway", (lane) => {
  let pair: Pair
  const opened = (): Pair => pair

  // One for all: each takes two servers or a gateway as processes.
  beforeAll(async () => {
    pair = await openLane(lane, { groups: GROUPS }, { listens: true })
  })

  afterAll(() => pair[Symbol.asyncDispose]())

  describe("definitions", () => {
    testDefinitions(lane, opened)
  })
  describe("results", () => {
    testResults(lane, opened)
  })
  describe("errors", () => {
    testErrors(lane, opened)
  })
  describe("running calls", () => {
    testCalls(opened)
  })
  describe("changes", () => {
    testChanges(opened)
  })
})
