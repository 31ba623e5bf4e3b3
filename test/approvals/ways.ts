// What holds of a mutation under rules, whichever way it is called.
import { describe, expect, test, vi } from "vitest"
import {
  createRegistry,
  isCallError,
  type ApprovalRule,
  type InputResponse,
  type OperationRegistry,
} from "../../src/index.ts"
import { createManualClock, silentLogger } from "../../src/testing.ts"
import { waitFor } from "../support/wait-for.ts"
import { mutationNamed } from "./support.ts"

export type Action = InputResponse["action"]
/** What a person answers, or when. */
export type Answer = Action | (() => Promise<Action>)
/** Calls once, and answers a question if there is an answer. Returns the result, or the code of the error. */
type Attempt = (answer: Answer | undefined, input: Record<string, unknown>) => Promise<string>
export type Open = (registry: OperationRegistry) => Attempt | Promise<Attempt>

export const outcome = async (call: Promise<{ readonly data: unknown }>): Promise<string> => {
  try {
    return String((await call).data)
  } catch (error) {
    return isCallError(error) ? error.code : String(error)
  }
}
export const actionOf = async (answer: Answer): Promise<{ action: Action }> => ({
  action: typeof answer === "string" ? answer : await answer(),
})
export const answering = (answer: Answer | undefined) =>
  answer && { requestInput: () => actionOf(answer) }

/** Ways in, each with whether its caller can be asked. */
export type Ways = Readonly<Record<string, readonly [open: Open, canAnswer: boolean]>>

const opened = async (open: Open, rules: readonly ApprovalRule[]) => {
  const ran = vi.fn(() => "ran")
  const clock = createManualClock()
  // What a program does that a model wrote.
  const program = mutationNamed("run.code", async (input, { call }) => {
    return (await call("files.remove", input, { via: "code" } as never)).data
  })
  const registry: OperationRegistry = createRegistry(
    [mutationNamed("files.remove", ran), program],
    {
      approvals: [{ match: "run.code", decide: "allow" }, ...rules],
      ...{ clock, logger: silentLogger },
    },
  )
  return { ran, clock, attempt: await open(registry), approvals: registry.approvals! }
}

/** Tests every decision and every answer for each way. */
export function testWays(ways: Ways): void {
  describe.each(Object.entries(ways))("A mutation called by %s", (_name, [open, canAnswer]) => {
    const setUp = (rules: readonly ApprovalRule[]) => opened(open, rules)

    test("runs if it is allowed, and never if it is denied", async () => {
      const { ran, attempt } = await setUp([
        { decide: "allow", input: { properties: { n: { const: 1 } } } },
        { decide: "deny", reason: "Only one." },
      ])
      expect(await attempt("accept", { n: 1 })).toBe("ran")
      expect(ran).toHaveBeenCalledTimes(1)
      expect(await attempt("accept", { n: 2 })).toBe("DENIED_BY_RULE")
      expect(await attempt(undefined, {})).toBe("DENIED_BY_RULE")
      expect(ran).toHaveBeenCalledTimes(1)
    })

    test("runs once for each acceptance of a caller that can be asked", async () => {
      const { ran, attempt } = await setUp([{ decide: "ask" }])
      expect(await attempt("accept", { n: 1 })).toBe(canAnswer ? "ran" : "APPROVAL_REQUIRED")
      expect(ran).toHaveBeenCalledTimes(canAnswer ? 1 : 0)
      expect(await attempt("decline", { n: 1 })).toBe(canAnswer ? "DECLINED" : "APPROVAL_REQUIRED")
      expect(await attempt("cancel", { n: 1 })).toBe(canAnswer ? "DECLINED" : "APPROVAL_REQUIRED")
      expect(await attempt("accept", { n: 1 })).toBe(canAnswer ? "ran" : "APPROVAL_REQUIRED")
      expect(ran).toHaveBeenCalledTimes(canAnswer ? 2 : 0)
    })

    test("runs once after it was approved elsewhere, for this input alone", async () => {
      const { ran, attempt, approvals } = await setUp([{ decide: "ask" }])
      expect(await attempt(undefined, { n: 1, confirmed: true })).toBe("APPROVAL_REQUIRED")
      expect(approvals.waiting).toHaveLength(1)
      approvals.answer(approvals.waiting[0]!.id, { approve: true })
      expect(await attempt(undefined, { n: 2, confirmed: true })).toBe("APPROVAL_REQUIRED")
      expect(ran).not.toHaveBeenCalled()
      expect(await attempt(undefined, { n: 1, confirmed: true })).toBe("ran")
      expect(await attempt(undefined, { n: 1, confirmed: true })).toBe("APPROVAL_REQUIRED")
      expect(ran).toHaveBeenCalledTimes(1)
    })

    test("is declined after a person declined it elsewhere", async () => {
      const { ran, attempt, approvals } = await setUp([{ decide: "ask" }])
      await attempt(undefined, {})
      approvals.answer(approvals.waiting[0]!.id, { approve: false })
      expect(await attempt(undefined, {})).toBe("DECLINED")
      expect(ran).not.toHaveBeenCalled()
    })

    test("runs once if three calls use one approval at the same time", async () => {
      const { ran, attempt, approvals } = await setUp([{ decide: "ask" }])
      await attempt(undefined, { n: 1 })
      approvals.answer(approvals.waiting[0]!.id, { approve: true })
      const outcomes = await Promise.all([1, 2, 3].map(() => attempt(undefined, { n: 1 })))
      expect(outcomes.toSorted()).toEqual(["APPROVAL_REQUIRED", "APPROVAL_REQUIRED", "ran"])
      expect(ran).toHaveBeenCalledTimes(1)
    })

    test("does not run after an approval that came too late", async () => {
      const { ran, clock, attempt, approvals } = await setUp([{ decide: "ask" }])
      await attempt(undefined, { n: 1 })
      const { id } = approvals.waiting[0]!
      await clock.advance(300_000)
      expect(approvals.answer(id, { approve: true })).toBe(false)
      expect(await attempt(undefined, { n: 1 })).toBe("APPROVAL_REQUIRED")
      expect(ran).not.toHaveBeenCalled()
    })
  })

  describe.each(
    Object.entries(ways).flatMap(([name, [open, canAnswer]]) =>
      canAnswer ? [[name, open] as const] : [],
    ),
  )("A mutation called by %s", (_name, open) => {
    test("does not run after an answer that came too late", async () => {
      const { ran, clock, attempt } = await opened(open, [{ decide: "ask" }])
      const asked = vi.fn()
      let answer = (_action: Action): void => {}
      const late = (): Promise<Action> => {
        asked()
        // Clients of the new era ask again: then the person declines.
        if (asked.mock.calls.length > 1) return Promise.resolve("decline")
        return new Promise((resolve) => (answer = resolve))
      }
      const ended = attempt(late, { n: 1 })
      await waitFor(() => expect(asked).toHaveBeenCalled())
      await clock.advance(300_001)
      answer("accept")
      expect(["APPROVAL_REQUIRED", "DECLINED"]).toContain(await ended)
      expect(ran).not.toHaveBeenCalled()
    })
  })
}
