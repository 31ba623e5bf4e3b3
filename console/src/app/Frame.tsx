import { Suspense, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react"
import type { ReactNode } from "react"
import { ApprovalDialog } from "../approvals/ApprovalDialog.tsx"
import { FindPanel } from "../find/FindPanel.tsx"
import { Palette } from "../find/Palette.tsx"
import { recent } from "../find/kept-ids.ts"
import { IconButton } from "../ui/Button.tsx"
import type { OpenProps } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Skeleton } from "../ui/Skeleton.tsx"
import { Boundary } from "./Boundary.tsx"
import { Dock } from "./Dock.tsx"
import { Help } from "./Help.tsx"
import { Identity } from "./Identity.tsx"
import { SignIn, SignInPage } from "./SignIn.tsx"
import { TopBar } from "./TopBar.tsx"
import { navigate, toasts, useHubInfo, useOperations, useRoute, VIEWS } from "./context.tsx"
import type { Route } from "./context.tsx"
import { focusHeading } from "./focus.ts"
import { useShortcuts } from "./shortcuts.ts"
import { useIsLocked, useSession } from "./use-session.ts"
import { View, preloadOperation } from "./views.tsx"

type DialogName = "sign-in" | "identity" | "help" | "palette"

/** The frame around every view: top bar, list, dialogs. */
export function Frame(): ReactNode {
  const route = useRoute()
  const { title } = useHubInfo()
  const isNarrow = useIsNarrow()
  const [dialog, setDialog] = useState<DialogName>()
  const search = useRef<HTMLInputElement>(null)
  const propsOf = (name: DialogName): OpenProps => ({ open: dialog === name, onClose: close })
  const close = (): void => setDialog(undefined)
  const openSignIn = (): void => setDialog("sign-in")
  const openIdentity = (): void => setDialog("identity")
  const openHelp = (): void => setDialog("help")
  const openPalette = (): void => setDialog("palette")
  const showList = (): void => {
    if (isNarrow) navigate({ view: "find" })
  }
  const goSearch = (): void => {
    const focus = (): void => {
      search.current?.focus()
      search.current?.select()
    }
    // Immediately: letters typed before it has the focus would be lost.
    if (search.current?.getClientRects().length !== 0) return focus()
    // On narrow screens the list is a view of its own.
    navigate({ view: "find" })
    requestAnimationFrame(focus)
  }
  const { status } = useOperations()
  const isRequired = useIsLocked()
  const isLocked = status === "failed" && isRequired
  useSession(() => {
    // Before anything was displayed, the page itself asks.
    if (status === "ready") openSignIn()
  })
  useShortcuts({ onPalette: isLocked ? close : openPalette, onSearch: goSearch, onHelp: openHelp })
  useRecent(route)
  usePreload()
  const key = keyOf(route)
  useFocusOnChange(key)
  useEffect(() => {
    const name = nameOf(route)
    document.title = name === undefined ? title : `${name} · ${title}`
  }, [route, title])
  if (isLocked) {
    return (
      <div className="frame frame-locked">
        <TopBar onIdentity={openIdentity} onHelp={openHelp} />
        <SignInPage />
        <Help {...propsOf("help")} />
        <ToastList />
      </div>
    )
  }
  return (
    <div className="frame" data-view={route.view === "find" ? "find" : "other"}>
      <button type="button" className="skip" onClick={() => focusHeading()}>
        Skip to the content
      </button>
      <TopBar
        onSignIn={openSignIn}
        onIdentity={openIdentity}
        onHelp={openHelp}
        onPalette={openPalette}
      />
      {/* Where there is room for one of the two only, the list is what the page is about. */}
      <div
        className="side"
        role={isNarrow && route.view === "find" ? "main" : "complementary"}
        aria-label="Find operations"
      >
        <h2 className="visually-hidden" data-heading>
          Operations
        </h2>
        <FindPanel search={search} />
      </div>
      <main className="main" key={key}>
        <Boundary>
          <Suspense
            fallback={
              <div className="page">
                <Skeleton label="Loading" />
              </div>
            }
          >
            <View route={route} />
          </Suspense>
        </Boundary>
      </main>
      <Dock />
      <ApprovalDialog />
      <Palette {...propsOf("palette")} onHelp={openHelp} onSignIn={openSignIn} onList={showList} />
      <SignIn {...propsOf("sign-in")} />
      <Identity {...propsOf("identity")} onAdd={openSignIn} />
      <Help {...propsOf("help")} />
      <ToastList />
    </div>
  )
}

/** Messages that go away by themselves. */
function ToastList(): ReactNode {
  const displayed = useSyncExternalStore(toasts.subscribe, toasts.get)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {displayed.map(({ id, text, tone }) => (
        <div key={id} className={`toast toast-${tone}`}>
          <span>{text}</span>
          <IconButton label="Hide this message" size="small" onClick={() => toasts.hide(id)}>
            <Icon name="close" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}

/** As in the styles. */
const NARROW = "(max-width: 760px)"

/** Whether there is room for the list or a view, but not for both. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(NARROW).matches)
}

function subscribe(listener: () => void): () => void {
  const query = matchMedia(NARROW)
  query.addEventListener("change", listener)
  return () => query.removeEventListener("change", listener)
}

/** The tabs of an operation belong to the same view. */
function keyOf(route: Route): string {
  return route.view === "operation" ? `o:${route.id}` : route.view
}

function nameOf(route: Route): string | undefined {
  if (route.view === "operation") return route.id
  return VIEWS.find(({ view }) => view === route.view)?.label
}

/** Moves the focus to the heading of another view; the first view leaves it where it is. */
function useFocusOnChange(key: string): void {
  const before = useRef(key)
  useEffect(() => {
    if (before.current === key) return
    before.current = key
    // The search field keeps the focus.
    if (document.activeElement?.getAttribute("role") === "combobox" && key === "find") return
    focusHeading()
  }, [key])
}

/** Remembers the operations that are opened, if they exist. */
function useRecent(route: Route): void {
  const { operations } = useOperations()
  const id = route.view === "operation" ? route.id : undefined
  const isKnown = useMemo(() => operations.some((one) => one.id === id), [operations, id])
  useEffect(() => {
    if (id !== undefined && isKnown) recent.add(id)
  }, [id, isKnown])
}

/** Loads the operation view in advance, after the list and while the page is idle. */
function usePreload(): void {
  const { status } = useOperations()
  useEffect(() => {
    if (status !== "ready") return undefined
    const timer = setTimeout(preloadOperation, 300)
    return () => clearTimeout(timer)
  }, [status])
}
