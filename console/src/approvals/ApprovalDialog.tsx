import { useSyncExternalStore } from "react"
import type { ReactNode } from "react"
import type { InputRequest } from "../api/model.ts"
import { runs } from "../app/runs.ts"
import type { OpenQuestion } from "../app/runs.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import "./approvals.css"

/** Asks whether a call from this page may run, whichever view is open. */
export function ApprovalDialog(): ReactNode {
  const all = useSyncExternalStore(runs.subscribe, runs.list)
  const question = all
    .flatMap((run) => (run.kind === "call" ? run.state.questions : []))
    .find(isApproval)
  const request = question?.request
  const message = request !== undefined && "message" in request ? request.message : ""
  const cancel = (): void => question?.answer({ action: "cancel" })
  return (
    <Dialog title="Run this operation?" open={question !== undefined} onClose={cancel}>
      <p className="approval-text">{message}</p>
      <div className="row">
        <Button variant="primary" onClick={() => question?.answer({ action: "accept" })}>
          Approve
        </Button>
        <Button data-autofocus onClick={() => question?.answer({ action: "decline" })}>
          Decline
        </Button>
      </div>
    </Dialog>
  )
}

/** Whether a question is about a call itself, and not asked by its operation. */
export function isApproval({ request }: Pick<OpenQuestion, "request">): boolean {
  return isForm(request) && request.purpose === "approval"
}

function isForm(
  request: InputRequest,
): request is Extract<InputRequest, { readonly purpose?: unknown }> {
  return request.type === undefined || request.type === "form"
}
