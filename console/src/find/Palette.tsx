import { useEffect, useId, useMemo, useRef, useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { navigate, useOperations } from "../app/context.tsx"
import { wantField } from "../app/focus.ts"
import type { OperationSummary } from "../api/model.ts"
import { useModal } from "../ui/Dialog.tsx"
import type { OpenProps } from "../ui/Dialog.tsx"
import { Icon, TypeIcon } from "../ui/Icon.tsx"
import { cx } from "../ui/cx.ts"
import { formatCount } from "../ui/format.ts"
import { findCommands } from "./commands.ts"
import type { Command } from "./commands.ts"
import { nameOf } from "./tree.ts"
import { useCommands } from "./use-commands.ts"
import type { CommandActions } from "./use-commands.ts"
import { useKeptFolders } from "./use-finder.ts"
import { useSearch } from "./use-search.ts"
import "./palette.css"

/** A line of the palette. */
interface Item {
  readonly key: string
  readonly label: string
  readonly detail?: string | undefined
  readonly icon: ReactNode
  readonly run: () => void
}

interface Section {
  readonly label: string
  readonly items: readonly Item[]
}

const MAX_OPERATIONS = 30
/** Items of every other section while there is a query. */
const MAX_OTHERS = 5

/** A dialog that finds and does everything: operations, views, actions, sources, tags. */
export function Palette({ open, onClose, ...actions }: CommandActions & OpenProps): ReactNode {
  const modal = useModal(open, onClose)
  return (
    <dialog {...modal} className="dialog palette" aria-label="Search everything">
      {open && <PaletteContent actions={actions} onClose={onClose} />}
    </dialog>
  )
}

function PaletteContent({
  actions,
  onClose,
}: {
  readonly actions: CommandActions
  readonly onClose: () => void
}): ReactNode {
  const list = useId()
  const [query, setQuery] = useState("")
  const [active, setActive] = useState(0)
  const { sections, isPending, whenFound, error } = useSections(query, useCommands(actions))
  const items = useMemo(() => sections.flatMap((section) => section.items), [sections])
  const at = Math.min(active, items.length - 1)
  const scroller = useRef<HTMLDivElement>(null)
  useEffect(() => {
    scroller.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [at, items])
  const run = (item: Item | undefined): void => {
    if (item === undefined) return
    onClose()
    item.run()
  }
  const move = (to: number): void => setActive((to + items.length) % Math.max(items.length, 1))
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    const isClosing = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k"
    if (isClosing) onClose()
    else if (event.key === "ArrowDown") move(at + 1)
    else if (event.key === "ArrowUp") move(at - 1)
    else if (event.key === "Enter") {
      // The current query counts, even if the list still shows the previous results.
      if (isPending) whenFound(run)
      else run(items[at])
    } else return
    event.preventDefault()
  }
  return (
    <>
      <div className="palette-head">
        <Icon name="search" />
        <input
          className="palette-input"
          data-autofocus
          role="combobox"
          aria-label="Search everything"
          aria-expanded={items.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={items.length > 0 ? `${list}-${at}` : undefined}
          placeholder="Search operations, paths, tags, sources, actions"
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setActive(0)
            setQuery(event.target.value)
          }}
          onKeyDown={onKeyDown}
        />
        <kbd aria-hidden="true">Esc</kbd>
      </div>
      <div ref={scroller} id={list} className="palette-list" role="listbox" aria-label="Results">
        {sections.map((section, index) => (
          <SectionList
            key={section.label}
            section={section}
            list={list}
            start={sections.slice(0, index).reduce((sum, one) => sum + one.items.length, 0)}
            active={at}
            onActive={setActive}
            onRun={run}
          />
        ))}
      </div>
      <p className="palette-foot" role="status">
        {error?.message ?? (isPending ? "Searching" : countOf(items.length, query))}
      </p>
    </>
  )
}

function countOf(count: number, query: string): string {
  if (query.trim() === "") return "Type a word, a path such as /pets, or GET /pets"
  return count === 0 ? "Nothing found" : formatCount(count, "result")
}

function SectionList({
  section,
  list,
  start,
  active,
  onActive,
  onRun,
}: {
  readonly section: Section
  readonly list: string
  /** The index of its first item among all items. */
  readonly start: number
  readonly active: number
  readonly onActive: (at: number) => void
  readonly onRun: (item: Item) => void
}): ReactNode {
  const head = `${list}-${start}-head`
  return (
    <div role="group" aria-labelledby={head}>
      <div id={head} className="palette-section" role="presentation">
        {section.label}
      </div>
      {section.items.map((item, index) => {
        const at = start + index
        return (
          <div
            key={item.key}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === active}
            className={cx("palette-item", at === active && "is-active")}
            onMouseMove={() => onActive(at)}
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onRun(item)}
          >
            {item.icon}
            <span className="ellipsis">{item.label}</span>
            {item.detail !== undefined && (
              <span className="palette-detail ellipsis">{item.detail}</span>
            )}
          </div>
        )
      })}
    </div>
  )
}

function useSections(
  query: string,
  commands: readonly Command[],
): {
  readonly sections: readonly Section[]
  readonly isPending: boolean
  readonly error: Error | undefined
  readonly whenFound: (then: (first: Item | undefined) => void) => void
} {
  const { matches, isPending, error, whenFound } = useSearch(query)
  const { operations } = useOperations()
  const { favouriteFolder, recentFolder } = useKeptFolders(operations)
  const sectionsOf = (results: readonly OperationSummary[]): readonly Section[] => {
    if (query.trim() !== "") return resultSections(commands, query, results)
    const kept = [recentFolder, favouriteFolder].filter((folder) => folder !== undefined)
    return [
      ...kept.map(({ label, operations: some }) => ({
        label,
        items: some.map((one) => operationItem(one, label)),
      })),
      ...commandSections(commands.filter(({ kind }) => kind === "view" || kind === "action")),
    ].filter(({ items }) => items.length > 0)
  }
  return {
    sections: sectionsOf(matches ?? []),
    isPending,
    error,
    whenFound: (then) => whenFound((latest) => then(sectionsOf(latest)[0]?.items[0])),
  }
}

function resultSections(
  commands: readonly Command[],
  query: string,
  matches: readonly OperationSummary[],
): readonly Section[] {
  const { first, others } = findCommands(commands, query)
  const results = matches.slice(0, MAX_OPERATIONS).map((one) => operationItem(one, "found"))
  return [
    { label: "Best match", items: first.slice(0, MAX_OTHERS).map(commandItem) },
    { label: "Operations", items: results },
    ...commandSections(others, MAX_OTHERS),
  ].filter(({ items }) => items.length > 0)
}

const KINDS: readonly (readonly [kind: Command["kind"], label: string])[] = [
  ["view", "Views"],
  ["action", "Actions"],
  ["source", "Operations of a source"],
  ["tag", "Operations with a tag"],
]

function commandSections(commands: readonly Command[], max?: number): readonly Section[] {
  return KINDS.map(([kind, label]) => ({
    label,
    items: commands
      .filter((command) => command.kind === kind)
      .slice(0, max)
      .map(commandItem),
  }))
}

function commandItem({ key, label, detail, icon, run }: Command): Item {
  return { key, label, detail, icon: <Icon name={icon} className="palette-icon" />, run }
}

function operationItem(operation: OperationSummary, where: string): Item {
  const { id, type, request } = operation
  return {
    key: `${where}:${id}`,
    label: nameOf(operation),
    detail: request ?? id,
    icon: <TypeIcon type={type} />,
    run: () => {
      wantField()
      navigate({ view: "operation", id })
    },
  }
}
