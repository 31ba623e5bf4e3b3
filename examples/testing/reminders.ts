// #region operations
import { defineOperation } from "@alkdev/operations"
import type { Clock } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

/** External dependencies of the operations. */
export interface Outside {
  readonly clock: Pick<Clock, "now" | "setTimeout">
  readonly send: (to: string, text: string) => Promise<void>
}

/** Creates the operations; a test passes other dependencies. */
export function reminderOperations({ clock, send }: Outside) {
  const remind = defineOperation({
    type: "mutation",
    description: "Reminds a person after some minutes, if they agree",
    inputSchema: Type.Object({ text: Type.String({ minLength: 1 }), minutes: Type.Integer() }),
    outputSchema: Type.Object({ sentAt: Type.Integer() }),
    accessControl: { requiredScopes: ["reminder:send"] },
    handler: async ({ text, minutes }, { requestInput, identity, call }) => {
      const { data: wording } = await call("words.polish", { text })
      const answer = await requestInput({
        message: `Send "${String(wording)}"?`,
        schema: { type: "object", properties: {} },
      })
      if (answer.action !== "accept") return { sentAt: 0 }
      await new Promise<void>((resolve) => clock.setTimeout(resolve, minutes * 60_000))
      await send(identity?.id ?? "anonymous", String(wording))
      return { sentAt: clock.now() }
    },
  })
  const countdown = defineOperation({
    type: "subscription",
    description: "Counts down to zero",
    inputSchema: Type.Object({ from: Type.Integer() }),
    outputSchema: Type.Integer(),
    accessControl: { requiredScopes: [] },
    async *handler({ from }) {
      try {
        for (let left = from; left >= 0; left--) yield left
      } finally {
        await send("log", "countdown closed")
      }
    },
  })
  return { reminder: { send: remind, countdown } }
}
// #endregion
