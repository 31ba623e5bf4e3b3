import type { ReactNode } from "react"
import { Button, IconButton } from "../ui/Button.tsx"
import { Icon, Logo } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import { cx } from "../ui/cx.ts"
import { signOut } from "./Identity.tsx"
import {
  linkTo,
  useApprovals,
  useConnection,
  useHubInfo,
  useOperations,
  useRoute,
  viewsFor,
} from "./context.tsx"
import type { Connection } from "./store.ts"
import { useTheme } from "./theme.ts"
import type { Theme } from "./theme.ts"
import { useIsLocked, useIsSignedIn } from "./use-session.ts"

const STATES: Readonly<Record<Connection, string>> = {
  connecting: "Connecting",
  online: "Connected",
  offline: "No connection",
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = {
  system: "screen",
  light: "sun",
  dark: "moon",
}

/** The name of the hub, whether it answers, and the ways to everything else. */
export function TopBar({
  onSignIn,
  onIdentity,
  onHelp,
  onPalette,
}: {
  /** Left out where the page itself asks for a credential. */
  readonly onSignIn?: (() => void) | undefined
  readonly onIdentity: () => void
  readonly onHelp: () => void
  readonly onPalette?: (() => void) | undefined
}): ReactNode {
  const connection = useConnection()
  const { isAdmin, title } = useHubInfo()
  const { operations } = useOperations()
  const isLocked = useIsLocked() && connection === "online"
  const route = useRoute()
  return (
    <header className="top">
      {route.view !== "find" && (
        <a className="top-back" href={linkTo({ view: "find" })} aria-label="Back to the operations">
          <Icon name="back" />
        </a>
      )}
      <a className="top-title" href={linkTo({ view: "find" })}>
        <Logo />
        <span>{title}</span>
      </a>
      <span className={cx("top-state", !isLocked && `is-${connection}`)} role="status">
        <span className="top-dot" aria-hidden="true" />
        <span className="top-state-text">{isLocked ? "Locked" : STATES[connection]}</span>
      </span>
      {onSignIn !== undefined && (
        <>
          <Button className="top-search" aria-keyshortcuts="Control+K" onClick={onPalette}>
            <Icon name="search" />
            <span className="top-text">Search everything</span>
            <kbd aria-hidden="true">Ctrl K</kbd>
          </Button>
          <nav className="top-nav" aria-label="Views">
            <a
              className="top-home"
              href={linkTo({ view: "home" })}
              aria-current={route.view === "home" ? "page" : undefined}
            >
              <Icon name="home" />
              <span className="top-text">About this hub</span>
            </a>
            {viewsFor(isAdmin, operations).map(({ view, label, icon }) => (
              <a
                key={view}
                href={linkTo({ view })}
                aria-current={route.view === view ? "page" : undefined}
              >
                <Icon name={icon} />
                <span className="top-text">{label}</span>
                {view === "approvals" && <WaitingCount />}
              </a>
            ))}
          </nav>
        </>
      )}
      <ThemeButton />
      <IconButton label="Keys" className="top-keys" onClick={onHelp}>
        <Icon name="help" />
      </IconButton>
      {onSignIn !== undefined && <SessionButton onSignIn={onSignIn} onIdentity={onIdentity} />}
    </header>
  )
}

/** How many calls wait for an approval. */
function WaitingCount(): ReactNode {
  const count = useApprovals().approvals?.waiting.length ?? 0
  if (count === 0) return null
  return (
    <span className="top-count">
      {count} <span className="visually-hidden">waiting</span>
    </span>
  )
}

function ThemeButton(): ReactNode {
  const { theme, next, choose } = useTheme()
  return (
    <IconButton label={`Theme: ${theme}. Change to ${next}`} onClick={choose}>
      <Icon name={THEME_ICONS[theme]} />
    </IconButton>
  )
}

function SessionButton({
  onSignIn,
  onIdentity,
}: {
  readonly onSignIn: () => void
  readonly onIdentity: () => void
}): ReactNode {
  const isSignedIn = useIsSignedIn()
  const isLocked = useIsLocked()
  const { callerId, hasAuth } = useHubInfo()
  if (!isSignedIn && !hasAuth && !isLocked) return null
  return (
    <>
      {callerId !== undefined && (
        <button
          type="button"
          className="top-caller ellipsis"
          aria-haspopup="dialog"
          title="Who you are; other identities"
          onClick={onIdentity}
        >
          {callerId}
        </button>
      )}
      <Button className="top-session" onClick={isSignedIn ? signOut : onSignIn}>
        <Icon name={isSignedIn ? "leave" : "key"} />
        <span className="top-text">{isSignedIn ? "Sign out" : "Sign in"}</span>
      </Button>
    </>
  )
}
