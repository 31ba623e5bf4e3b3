import type { OperationSummary, OperationType } from "../api/model.ts"

/** The grouping of the list. */
export type GroupBy = "namespace" | "source" | "tag"

export interface Group {
  readonly key: string
  readonly label: string
  /** The source of all operations of the group, if it is a single one with another name. */
  readonly source: string | undefined
  readonly operations: readonly OperationSummary[]
}

/** A line of the list. Keys are the same for the same thing, whatever else is shown. */
export type Row =
  | {
      readonly kind: "group"
      readonly key: string
      readonly group: Group
      readonly isOpen: boolean
      readonly position: number
      readonly of: number
    }
  | {
      readonly kind: "operation"
      readonly key: string
      readonly operation: OperationSummary
      /** The displayed name: without its namespace, if the group shows that. */
      readonly label: string
      /** 2 within a group. */
      readonly level: 1 | 2
      readonly position: number
      readonly of: number
    }

/** The operations of one type; all of them without one. */
export function ofType(
  operations: readonly OperationSummary[],
  type: OperationType | undefined,
): readonly OperationSummary[] {
  return type === undefined ? operations : operations.filter((one) => one.type === type)
}

/** Operations in their groups, both by name. One with several tags is in the group of its first. */
export function groupOperations(
  operations: readonly OperationSummary[],
  by: GroupBy,
): readonly Group[] {
  const groups = new Map<string, OperationSummary[]>()
  for (const operation of operations) {
    const label = labelOf(operation, by)
    const group = groups.get(label)
    if (group === undefined) groups.set(label, [operation])
    else group.push(operation)
  }
  return [...groups]
    .map(([label, members]) => ({
      key: `g:${by}:${label}`,
      label: label === "" ? NAMELESS[by] : label,
      source: by === "namespace" ? onlySource(members, label) : undefined,
      operations: members,
    }))
    .toSorted((a, b) => compare(a.label, b.label))
}

/** Lines of groups, with what is in those that are open. */
export function groupedRows(
  groups: readonly Group[],
  closed: ReadonlySet<string>,
  by: GroupBy,
): readonly Row[] {
  const rows: Row[] = []
  const of = groups.length
  for (const [at, group] of groups.entries()) {
    const { key } = group
    const isOpen = !closed.has(key)
    rows.push({ kind: "group", key, group, isOpen, position: at + 1, of })
    if (!isOpen) continue
    const { operations } = group
    for (const [place, operation] of operations.entries()) {
      const label = by === "namespace" ? operation.name : operation.id
      rows.push(lineOf(operation, label, 2, place, operations.length))
    }
  }
  return rows
}

/** Lines of operations in their order, as of a search. */
export function flatRows(operations: readonly OperationSummary[]): readonly Row[] {
  return operations.map((operation, at) =>
    lineOf(operation, operation.id, 1, at, operations.length),
  )
}

function lineOf(
  operation: OperationSummary,
  label: string,
  level: 1 | 2,
  at: number,
  of: number,
): Row {
  const key = `o:${operation.id}`
  return { kind: "operation", key, operation, label, level, position: at + 1, of }
}

const NAMELESS: Readonly<Record<GroupBy, string>> = {
  namespace: "(no namespace)",
  source: "(this hub)",
  tag: "(no tag)",
}

function labelOf(operation: OperationSummary, by: GroupBy): string {
  switch (by) {
    case "namespace":
      return operation.namespace
    case "source":
      return operation.source ?? ""
    case "tag":
      return operation.tags?.[0] ?? ""
  }
}

function onlySource(members: readonly OperationSummary[], label: string): string | undefined {
  const source = members[0]?.source
  if (source === undefined || source === label) return undefined
  return members.every((one) => one.source === source) ? source : undefined
}

/** Compares by code unit, without a locale: the same everywhere, and fast. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
