import { Component } from "react"
import type { ReactNode } from "react"
import { Button } from "../ui/Button.tsx"
import { ErrorBox } from "../ui/ErrorBox.tsx"
import { asError } from "./as-error.ts"

interface State {
  readonly error?: Error
}

interface Props {
  readonly children: ReactNode
  /** Shown in place of a part that fails; default: the page of a view that failed. */
  readonly fallback?: ReactNode
}

/** Keeps a view that fails from taking the page with it. */
export class Boundary extends Component<Props, State> {
  override state: State = {}

  static getDerivedStateFromError(thrown: unknown): State {
    return { error: asError(thrown) }
  }

  override render(): ReactNode {
    const { error } = this.state
    const { children, fallback } = this.props
    if (error === undefined) return children
    if (fallback !== undefined) return fallback
    return (
      <div className="page stack">
        <h1>This view failed</h1>
        <ErrorBox error={error} />
        <p className="muted">
          After an update of the hub, parts of this page may be outdated. Reload to get the new
          ones.
        </p>
        <div className="row">
          <Button variant="primary" onClick={() => location.reload()}>
            Reload the page
          </Button>
        </div>
      </div>
    )
  }
}
