import type { ReactNode } from "react"
import { session } from "../api/session.ts"
import { recent } from "../find/kept-ids.ts"
import { drafts } from "../try/drafts.ts"
import { history } from "../try/history/use-history.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import type { OpenProps } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { toast, useHubInfo } from "./context.tsx"
import { runs } from "./runs.ts"
import { useIdentities } from "./use-session.ts"
import "./identity.css"

/** Who the page calls as, what that identity may do, and the others that have signed in. */
export function Identity({
  open,
  onClose,
  onAdd,
}: OpenProps & { readonly onAdd: () => void }): ReactNode {
  const { callerId, scopes = [], isAdmin } = useHubInfo()
  return (
    <Dialog title="Identity" open={open} onClose={onClose}>
      <p>
        You call as <strong>{callerId ?? "anonymous"}</strong>{" "}
        {isAdmin && <Badge tone="info">administrator</Badge>}
      </p>
      <p>
        {scopes.length === 0
          ? "It has no scopes."
          : ["Scopes: ", ...scopes.map((scope) => <code key={scope}>{scope} </code>)]}
      </p>
      <IdentityList />
      <div className="row">
        <Button onClick={onAdd}>
          <Icon name="plus" /> Add an identity
        </Button>
      </div>
    </Dialog>
  )
}

/** The identities of this page, to change between them. */
export function IdentityList(): ReactNode {
  const identities = useIdentities()
  if (identities.length === 0) return null
  return (
    <ul className="row" aria-label="Identities">
      {identities.map(({ credential, name }, at) => {
        const isUsed = credential === session.credential
        return (
          <li key={at}>
            <Button
              aria-pressed={isUsed}
              onClick={() => {
                if (!isUsed) session.setCredential(credential)
              }}
            >
              <Icon name={isUsed ? "check" : "key"} />{" "}
              {name ?? (credential.kind === "key" ? "an API key" : "a token")}
            </Button>
          </li>
        )
      })}
    </ul>
  )
}

/** Forgets the credential in use, and what was called and entered with it. */
export function signOut(): void {
  runs.clear()
  session.setCredential(undefined)
  history.clear()
  drafts.clear()
  recent.clear()
  toast("Signed out")
}
