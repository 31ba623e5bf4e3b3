import { useEffect, useId, useRef, useState } from "react"
import type { ReactNode, SubmitEvent } from "react"
import { ProblemError } from "../api/model.ts"
import type { Credential } from "../api/model.ts"
import { credentialIssue, probeCredential } from "../api/probe.ts"
import { session } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import type { OpenProps } from "../ui/Dialog.tsx"
import { asError } from "./as-error.ts"
import { IdentityList } from "./Identity.tsx"
import { toast, useHub, useHubInfo } from "./context.tsx"
import { useIdentities } from "./use-session.ts"

const LABELS = { key: "API key", token: "Token" } as const

/** Asks for a key or a token, and tries it before anything else uses it. */
export function SignIn({ open, onClose }: OpenProps): ReactNode {
  return (
    <Dialog title="Sign in" open={open} onClose={onClose}>
      <SignInForm onClose={onClose} />
    </Dialog>
  )
}

/** The page of a hub that shows nothing without a credential. */
export function SignInPage(): ReactNode {
  const { title } = useHubInfo()
  const others = useIdentities()
  return (
    <main className="main sign-in-page">
      <div className="card stack-l">
        <h1 tabIndex={-1}>{title}</h1>
        <p>
          <strong>Sign in to continue.</strong> This hub needs an API key or a token. Whoever runs
          it can give you one.
        </p>
        <SignInForm />
        {others.length > 0 && <IdentityList />}
      </div>
    </main>
  )
}

function SignInForm({ onClose }: { readonly onClose?: (() => void) | undefined }): ReactNode {
  const hub = useHub()
  const issueId = useId()
  const [kind, setKind] = useState<Credential["kind"]>("key")
  const [value, setValue] = useState("")
  const [issue, setIssue] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [isKept, setKept] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const trying = useRef<AbortController>(undefined)
  useEffect(() => () => trying.current?.abort(), [])

  const refuse = (why: string): void => {
    setIssue(why)
    field.current?.focus()
  }
  const enter = async (): Promise<void> => {
    const credential: Credential = { kind, value: value.trim() }
    const wrong = credentialIssue(credential.value)
    if (wrong !== undefined) return refuse(wrong)
    const controller = new AbortController()
    trying.current = controller
    setBusy(true)
    try {
      await probeCredential(hub.baseUrl, credential, controller.signal)
      session.setCredential(credential)
      session.keep(isKept)
      toast("Signed in", "good")
      onClose?.()
    } catch (error) {
      if (!controller.signal.aborted) refuse(reasonOf(error, kind))
    } finally {
      setBusy(false)
    }
  }
  useEffect(() => field.current?.focus(), [])
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (!isBusy) void enter()
  }
  return (
    <form className="sign-in stack" onSubmit={submit} noValidate>
      <fieldset className="sign-in-kinds">
        <legend>What do you have?</legend>
        {(["key", "token"] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
            {LABELS[one]}
          </label>
        ))}
      </fieldset>
      <label className="field">
        <span>{LABELS[kind]}</span>
        <input
          ref={field}
          className="input"
          type="password"
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          value={value}
          aria-invalid={issue !== undefined}
          aria-describedby={issue === undefined ? undefined : issueId}
          onChange={(event) => {
            setValue(event.target.value)
            setIssue(undefined)
          }}
        />
      </label>
      {issue !== undefined && (
        <p className="sign-in-issue" id={issueId} role="alert">
          {issue}
        </p>
      )}
      <label className="muted">
        <input
          type="checkbox"
          checked={isKept}
          onChange={(event) => setKept(event.target.checked)}
        />{" "}
        Keep it when I reload this tab. Otherwise it is in the memory of this page only.
      </label>
      <div className="row">
        <Button variant="primary" type="submit" busy={isBusy}>
          Sign in
        </Button>
        {onClose !== undefined && <Button onClick={onClose}>Not now</Button>}
      </div>
    </form>
  )
}

function reasonOf(error: unknown, kind: Credential["kind"]): string {
  if (error instanceof ProblemError && error.status === 401) {
    return `The hub does not accept this ${kind}. Check it, or ask for a new one.`
  }
  return asError(error).message
}
