import type { OperationSummary, SourceStatus } from "../api/model.ts"
import { groupBy } from "../ui/group-by.ts"
import { plainText } from "../../../src/internal/plain-text.ts"

/** A part of the tree: the operations of a source, of a tag in it, or those that the user has marked. */
export interface Folder {
  /** The same for the same part, whatever else is shown. */
  readonly key: string
  readonly kind: "favourites" | "recent" | "source" | "tag"
  readonly label: string
  readonly count: number
  readonly folders: readonly Folder[]
  /** The operations outside of its folders. */
  readonly operations: readonly OperationSummary[]
}

/** A line's place among its siblings, for screen readers. */
interface Place {
  readonly level: number
  readonly position: number
  readonly of: number
}

/** The line of a folder. */
export interface FolderRow extends Place {
  readonly kind: "folder"
  readonly key: string
  readonly folder: Folder
  readonly isOpen: boolean
}

/** The line of an operation. */
interface OperationRow extends Place {
  readonly kind: "operation"
  readonly key: string
  readonly operation: OperationSummary
}

/** A line of the list. */
export type Row = FolderRow | OperationRow

/** With more operations, folders are closed until they are opened. */
const MAX_OPEN = 200
/** Operations without tags stay together up to this number. */
const MAX_TOGETHER = 20

/** Operations by source, then by tag, and the sources that failed. One with several tags is in the folder of its first. */
export function toTree(
  operations: readonly OperationSummary[],
  sources: readonly Pick<SourceStatus, "name" | "state">[] = [],
): readonly Folder[] {
  const groups = groupBy(operations, ({ source }) => source ?? "")
  const failed = sources.filter(({ state }) => state === "failed").map(({ name }) => name)
  return [...new Set([...groups.keys(), ...failed])]
    .map((name) => sourceFolder(name, groups.get(name) ?? []))
    .toSorted(byLabel)
}

/** A folder of operations in the order of their ids; `undefined` if none of them exists. */
export function keptFolder(
  kind: "favourites" | "recent",
  ids: readonly string[],
  operations: ReadonlyMap<string, OperationSummary>,
): Folder | undefined {
  const existing = ids.flatMap((id) => operations.get(id) ?? [])
  const label = kind === "favourites" ? "Favourites" : "Recent"
  return existing.length === 0
    ? undefined
    : { key: kind, kind, label, count: existing.length, folders: [], operations: existing }
}

/** Whether a folder is open before the user has opened or closed it. */
export function isOpenAtFirst({ kind }: Folder, tree: readonly Folder[]): boolean {
  if (kind === "favourites") return true
  // It changes with every operation that is opened, and would move the lines below it.
  if (kind === "recent") return false
  const sources = tree.filter((folder) => folder.kind === "source")
  const total = sources.reduce((sum, { count }) => sum + count, 0)
  return total <= MAX_OPEN || (kind === "source" && sources.length === 1)
}

/** The lines of a tree, including the content of open folders. */
export function treeRows(
  tree: readonly Folder[],
  isOpen: (folder: Folder) => boolean,
): readonly Row[] {
  const rows: Row[] = []
  for (const [at, folder] of tree.entries()) {
    addFolder(rows, folder, isOpen, { level: 1, position: at + 1, of: tree.length })
  }
  return rows
}

/** The lines of a flat list of operations, such as the results of a search. */
export function flatRows(operations: readonly OperationSummary[]): readonly Row[] {
  return operations.map((operation, at) => ({
    kind: "operation",
    key: `o:${operation.id}`,
    operation,
    level: 1,
    position: at + 1,
    of: operations.length,
  }))
}

/** The keys of the folders that an operation is in, from the outside in. */
export function foldersOf(tree: readonly Folder[], id: string): readonly string[] {
  for (const folder of tree) {
    if (folder.kind !== "source" && folder.kind !== "tag") continue
    if (folder.operations.some((one) => one.id === id)) return [folder.key]
    const inner = foldersOf(folder.folders, id)
    if (inner.length > 0) return [folder.key, ...inner]
  }
  return []
}

/** The name of an operation in lists. */
export function nameOf(operation: OperationSummary): string {
  return titleOf(operation) ?? operation.name
}

const MAX_TITLE = 90

/** The title of an operation, else the first sentence of its description, if that is as short as one. */
export function titleOf({
  title,
  description,
}: Pick<OperationSummary, "title" | "description">): string | undefined {
  const text = plainText(title ?? description)
  const [first = ""] = title === undefined ? text.split(/\. (?=\p{Lu})/u, 1) : [text]
  const isTitle = title !== undefined || (first !== "" && first.length <= MAX_TITLE)
  return isTitle ? first.replace(/\.$/, "") : undefined
}

function addFolder(
  rows: Row[],
  folder: Folder,
  isOpen: (folder: Folder) => boolean,
  place: Place,
): void {
  const { key, kind, folders, operations } = folder
  const isFolderOpen = isOpen(folder)
  rows.push({ kind: "folder", key, folder, isOpen: isFolderOpen, ...place })
  if (!isFolderOpen) return
  const of = folders.length + operations.length
  const level = place.level + 1
  for (const [at, inner] of folders.entries()) {
    addFolder(rows, inner, isOpen, { level, position: at + 1, of })
  }
  const isKept = kind === "favourites" || kind === "recent"
  const ordered = isKept ? operations : operations.toSorted(byName)
  for (const [at, operation] of ordered.entries()) {
    // The same operation may be in one of the user's folders too.
    const operationKey = `${isKept ? kind : "o"}:${operation.id}`
    const position = folders.length + at + 1
    rows.push({ kind: "operation", key: operationKey, operation, level, position, of })
  }
}

function sourceFolder(name: string, members: readonly OperationSummary[]): Folder {
  const placeOf = placeIn(members)
  const groups = groupBy(members, (one) => placeOf(one) ?? "")
  const loose = groups.get("") ?? []
  const isOne = groups.size === 1
  const folders = isOne
    ? []
    : [...groups]
        .filter(([label]) => label !== "")
        .map(([label, operations]) => ({
          key: `tag:${JSON.stringify([name, label])}`,
          kind: "tag" as const,
          label,
          count: operations.length,
          folders: [],
          operations,
        }))
        .toSorted(byLabel)
  return {
    key: `source:${name}`,
    kind: "source",
    label: name === "" ? "This hub" : name,
    count: members.length,
    folders,
    operations: isOne ? members : loose,
  }
}

/**
 * Where the operations of a source belong: to their first tag; without tags, to their namespace if the source has
 * several, or else to the part of their path in which they differ first.
 */
function placeIn(
  members: readonly OperationSummary[],
): (operation: OperationSummary) => string | undefined {
  const namespace = members[0]?.namespace
  if (members.some((one) => one.namespace !== namespace)) {
    return (one) => one.tags?.[0] ?? one.namespace
  }
  const isTagged = members.some(({ tags = [] }) => tags.length > 0)
  if (isTagged || members.length <= MAX_TOGETHER) return ({ tags }) => tags?.[0]
  const paths = members.map(pathOf)
  const [first = []] = paths
  let at = 0
  while (isLiteral(first[at]) && paths.every((path) => path[at] === first[at])) at++
  return (one) => {
    const segment = pathOf(one)[at]
    return isLiteral(segment) ? segment : undefined
  }
}

function pathOf({ request = "" }: OperationSummary): readonly string[] {
  return request.split("/").slice(1)
}

function isLiteral(segment: string | undefined): segment is string {
  return segment !== undefined && segment !== "" && !segment.startsWith("{")
}

function byLabel(a: Folder, b: Folder): number {
  return compare(a.label.toLowerCase(), b.label.toLowerCase())
}

function byName(a: OperationSummary, b: OperationSummary): number {
  return compare(nameOf(a).toLowerCase(), nameOf(b).toLowerCase()) || compare(a.id, b.id)
}

/** Compares by code unit, without a locale: the same everywhere, and fast. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
