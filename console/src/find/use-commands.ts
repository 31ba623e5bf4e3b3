import { useMemo } from "react"
import {
  linkTo,
  navigate,
  toast,
  useHubInfo,
  useOperations,
  useRoute,
  viewsFor,
} from "../app/context.tsx"
import { useTheme } from "../app/theme.ts"
import { useIsSignedIn } from "../app/use-session.ts"
import { copyText } from "../ui/copy-text.ts"
import type { Command } from "./commands.ts"
import { countFilters, filterChoices, setFilters, useFilters } from "./filters.ts"
import type { Filters } from "./filters.ts"
import { favourites, recent, useKeptIds } from "./kept-ids.ts"

/** What the commands of the palette do outside of it. */
export interface CommandActions {
  readonly onHelp: () => void
  readonly onSignIn: () => void
  /** Shows the list, where it is not always shown. */
  readonly onList: () => void
}

/** The views, actions, sources and tags that the palette offers at the moment. */
export function useCommands(actions: CommandActions): readonly Command[] {
  const views = useViews()
  const others = useActions(actions)
  const { operations } = useOperations()
  const { onList } = actions
  const places = useMemo(() => {
    const { sources, tags } = filterChoices(operations, undefined)
    const show = (filters: Filters) => (): void => {
      setFilters(filters)
      onList()
    }
    return [
      ...sources.map((source): Command => {
        const key = `source:${source}`
        return { key, kind: "source", label: source, icon: "sources", run: show({ source }) }
      }),
      ...tags.map((tag): Command => {
        return { key: `tag:${tag}`, kind: "tag", label: tag, icon: "tag", run: show({ tag }) }
      }),
    ]
  }, [operations, onList])
  return useMemo(() => [...views, ...others, ...places], [views, others, places])
}

const START = { view: "find", label: "Start page", icon: "home" } as const

function useViews(): readonly Command[] {
  const { isAdmin } = useHubInfo()
  const { operations } = useOperations()
  return useMemo(
    () =>
      [START, ...viewsFor(isAdmin, operations)].map(({ view, label, icon }) => {
        const run = (): void => navigate({ view })
        return { key: `view:${view}`, kind: "view", label, icon, run }
      }),
    [isAdmin, operations],
  )
}

function useActions({ onHelp, onSignIn }: CommandActions): readonly Command[] {
  const route = useRoute()
  const { reload } = useOperations()
  const { hasAuth } = useHubInfo()
  const isSignedIn = useIsSignedIn()
  const { next, choose } = useTheme()
  const marked = useKeptIds(favourites)
  const opened = useKeptIds(recent)
  const filters = useFilters()
  const action = (label: string, icon: Command["icon"], run: () => void): Command => ({
    key: `action:${label}`,
    kind: "action",
    label,
    icon,
    run,
  })
  const id = route.view === "operation" ? route.id : undefined
  const isMarked = id !== undefined && marked.includes(id)
  const copyLink = async (): Promise<void> => {
    const isCopied = await copyText(new URL(linkTo(route), location.href).href)
    toast(
      isCopied ? "Link copied" : "The browser does not allow copying",
      isCopied ? "good" : "bad",
    )
  }
  return [
    ...(id === undefined
      ? []
      : [
          action(isMarked ? "Remove from favourites" : "Add to favourites", "star", () =>
            favourites.toggle(id),
          ),
        ]),
    action("Copy a link to this page", "link", () => void copyLink()),
    action(`Change the theme to ${next}`, "sun", choose),
    action("Reload the operations", "refresh", reload),
    ...(countFilters(filters) === 0
      ? []
      : [action("Clear the filters", "filter", () => setFilters({}))]),
    ...(opened.length === 0 ? [] : [action("Forget recent operations", "trash", recent.clear)]),
    action("Show the keys", "help", onHelp),
    ...(hasAuth && !isSignedIn ? [action("Sign in", "key", onSignIn)] : []),
  ]
}
