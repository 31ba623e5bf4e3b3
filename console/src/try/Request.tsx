import { useEffect, useEffectEvent, useRef } from "react"
import type { ReactNode } from "react"
import type { OperationSpec } from "../api/model.ts"
import { toast, useHub } from "../app/context.tsx"
import { useIsSignedIn } from "../app/use-session.ts"
import { curlSnippet } from "../read/snippets/snippets.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { Splitter } from "./Splitter.tsx"
import { withoutSecrets } from "./history/mask.ts"
import { linkWithInput } from "./use-input.ts"
import "./try.css"

/** A request and its response: beside each other where there is room, under a bar that is always in sight. */
export function Request({
  bar,
  request,
  response,
  onRun,
}: {
  readonly bar: ReactNode
  readonly request: ReactNode
  readonly response: ReactNode
  /** Runs it, by keyboard from anywhere in the page while it can be seen. */
  readonly onRun: () => void
}): ReactNode {
  const root = useRef<HTMLDivElement>(null)
  const press = useEffectEvent((event: KeyboardEvent): void => {
    const isSeen = root.current?.getClientRects().length !== 0
    if (!isRunKey(event) || event.defaultPrevented || !isSeen) return
    if (document.querySelector("dialog[open]") !== null) return
    event.preventDefault()
    onRun()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => press(event)
    addEventListener("keydown", listener)
    return () => removeEventListener("keydown", listener)
  }, [])
  return (
    <div className="try stack-l" ref={root}>
      <div className="action-bar" role="group" aria-label="Actions">
        {bar}
      </div>
      <div className="request">
        <div className="request-input stack-l">{request}</div>
        <Splitter />
        <div className="request-response stack-l">{response}</div>
      </div>
    </div>
  )
}

/** Whether Ctrl or ⌘ and Enter were pressed. */
export function isRunKey({
  key,
  ctrlKey,
  metaKey,
}: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">): boolean {
  return key === "Enter" && (ctrlKey || metaKey)
}

/** Copies the request as a command, and as a link. */
export function ShareButtons({
  id,
  spec,
  input,
}: {
  readonly id: string
  readonly spec: OperationSpec
  readonly input: unknown
}): ReactNode {
  const { baseUrl } = useHub()
  const needsToken = useIsSignedIn()
  const { inputSchema } = spec
  const curl = (): string =>
    curlSnippet(spec, withoutSecrets(input, inputSchema).value, { baseUrl, needsToken })
  const link = (): string => {
    const made = linkWithInput(id, input, inputSchema)
    if (made === undefined) toast("The input is too long for a link: it is left out.")
    else if (made.removed.length > 0) toast(`Left out of the link: ${made.removed.join(", ")}`)
    const { href } = new URL(made?.link ?? `#/o/${encodeURIComponent(id)}`, location.href)
    return href
  }
  return (
    <span className="action-share">
      <CopyButton text={curl} label="Copy as curl" />
      <CopyButton text={link} label="Copy link" icon="link" />
    </span>
  )
}
