import { useId, useState } from "react"
import type { ReactNode } from "react"
import type { ApprovalChoice, WaitingApproval } from "../api/model.ts"
import { asError } from "../app/as-error.ts"
import { linkTo, toast, useHub } from "../app/context.tsx"
import { Badge, Button, ErrorBox, Icon, clockText, formatDuration } from "../ui/index.ts"

/** A call that waits, and the answers to it. */
export function WaitingCall({
  call,
  canAlways,
  now,
  onAnswered,
}: {
  readonly call: WaitingApproval
  readonly canAlways: boolean
  readonly now: number
  readonly onAnswered: (id: string) => void
}): ReactNode {
  const { id, operationId, caller, via, input, rule, reason, at, expiresAt } = call
  const hub = useHub()
  const title = useId()
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const answer = async (choice: ApprovalChoice): Promise<void> => {
    setIsBusy(true)
    setError(undefined)
    try {
      await hub.answerApproval(id, choice)
      toast(
        choice.approve
          ? "Approved. It runs when its caller makes the call again."
          : "Declined. It does not run.",
      )
      onAnswered(id)
    } catch (thrown) {
      setError(asError(thrown))
      setIsBusy(false)
    }
  }
  const choose = (choice: ApprovalChoice) => () => void answer(choice)
  const left = Math.max(0, Math.ceil((expiresAt - now) / 1000) * 1000)
  return (
    <article className="waiting-call card stack" aria-labelledby={title}>
      <header className="row">
        <h2 id={title}>
          <a href={linkTo({ view: "operation", id: operationId })}>{operationId}</a>
        </h2>
        <Badge tone={left < 60_000 ? "warn" : "neutral"}>{formatDuration(left)} left</Badge>
      </header>
      <dl>
        <dt>Caller</dt>
        <dd>
          {caller ?? "anonymous"} <span className="muted">by {via}</span>
        </dd>
        <dt>Input</dt>
        <dd>
          <code className="waiting-input">{input}</code>
        </dd>
        <dt>Asked</dt>
        <dd>
          <time dateTime={new Date(at).toISOString()}>{clockText(at)}</time>
          {(reason ?? rule) !== undefined && (
            <span className="muted"> because of {rule ?? "a rule"}</span>
          )}
          {reason !== undefined && <span>: {reason}</span>}
        </dd>
      </dl>
      {error !== undefined && <ErrorBox error={error} />}
      <div className="row">
        <Button variant="primary" busy={isBusy} onClick={choose({ approve: true })}>
          <Icon name="check" /> Approve
        </Button>
        <Button
          busy={isBusy}
          title="Also further calls of this operation by this caller, whatever their input, for an hour"
          onClick={choose({ approve: true, session: true })}
        >
          For this session
        </Button>
        {canAlways && (
          <Button
            busy={isBusy}
            title="Also further calls of this operation by this caller, whatever their input, until you remove that"
            onClick={choose({ approve: true, always: true })}
          >
            Always
          </Button>
        )}
        <Button variant="danger" busy={isBusy} onClick={choose({ approve: false })}>
          Decline
        </Button>
      </div>
    </article>
  )
}
