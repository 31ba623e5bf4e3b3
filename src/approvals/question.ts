import type { ApprovalDecision } from "../core/approvals.ts"
import type { FormInputRequest } from "../core/types.ts"
import { cutText, jsonText } from "../internal/message-text.ts"
import { redact } from "../internal/redact.ts"

/** Characters of an input that people are shown. */
const MAX_SHOWN = 2000

/** Control characters, invisible ones, and those that change the direction of a text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu

/** The question whether a call may run. A client can only accept or decline it. */
export function questionFor(
  { operationId, input }: { readonly operationId: string; readonly input: unknown },
  { reason }: ApprovalDecision,
  key: string,
): FormInputRequest {
  const lines = [`${visible(operationId)}: run this operation?`, `Input: ${shownInput(input)}`]
  if (reason !== undefined) lines.push(`Why you are asked: ${visible(reason)}`)
  return {
    purpose: "approval",
    key,
    message: lines.join("\n"),
    schema: { type: "object", properties: {} },
  }
}

/** An input on one line, without secrets; the end of a long one is cut, and counted. */
export function shownInput(input: unknown): string {
  const text = visible(jsonText(redact(input)) ?? "none")
  const rest = text.length - MAX_SHOWN
  return rest <= 0 ? text : `${cutText(text, MAX_SHOWN)} (${rest} more characters are not shown)`
}

/** A text with escapes for what people cannot see. */
function visible(text: string): string {
  return text.replaceAll(
    UNSEEN,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
