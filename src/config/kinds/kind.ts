// What a kind of source is to a configuration, and the options that all kinds have.

import type { AccessControl, Visibility } from "../../core/types.ts"
import type { ApprovalRule } from "../../core/approvals.ts"
import type { Resilience } from "../../core/resilience.ts"
import type { IssueReporter, Keys, Shape } from "../field-checks.ts"

/** Who may call which operations of a source; the first matching rule applies. */
export interface AccessRule extends AccessControl {
  /** Ids or names, `*` for any part: `"issues.*"`; default: every operation of the source. */
  readonly match?: string | readonly string[] | undefined
}

/** Options that every kind of source has. */
export interface CommonSource {
  /** The prefix of its operation ids; default: the source's name. */
  readonly namespace?: string | undefined
  /** Only these operations, by name or id; `*` stands for any part. */
  readonly include?: string | readonly string[] | undefined
  readonly exclude?: string | readonly string[] | undefined
  /** New operation names by old name. */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /** `internal` operations can be called by other operations only and are never served. */
  readonly visibility?: Visibility | undefined
  readonly access?: AccessRule | readonly AccessRule[] | undefined
  /** What happens when its calls fail, are slow or are made too often; `"standard"` for usual limits. */
  readonly resilience?: Resilience | "standard" | undefined
  /** What a person has to approve first; of these rules and those of the hub, the strictest decision counts. */
  readonly approvals?: readonly ApprovalRule[] | undefined
  /** While it is missing, `/readyz` reports the hub as not ready; default: `true` for brokers only. */
  readonly required?: boolean | undefined
  readonly disabled?: boolean | undefined
}

/** One kind of source, under the name of the field that makes a source one of this kind. */
export interface SourceDescription<TSource extends CommonSource = CommonSource> {
  /** What a source of this kind is. */
  readonly about: string
  /** A name for one, for messages. */
  readonly example: string
  /** Its fields, besides those of every source. */
  readonly fields: Readonly<Record<string, Shape>>
  /** Reports fields that do not go together. */
  check?(source: Readonly<Record<string, unknown>>, keys: Keys, report: IssueReporter): void
  /** Messages for names that users often try instead of its fields. */
  readonly hints?: Readonly<Record<string, string>> | undefined
  /** The value of the field of its name, in our words. */
  read?(value: unknown): unknown
  /** It is left out, for another reason than `disabled`. */
  isDisabled?(source: TSource): boolean
  /** A name for a source without one. Invalid sources get one, too. */
  nameOf(source: TSource): string
  /** Where its operations come from, without secrets. */
  originOf(source: TSource): string
  /** The origin contains commands: programs elsewhere are shown by their names. */
  readonly hasCommand?: boolean | undefined
  /** The text of its field is the path of a file or folder. */
  isPath?(text: string): boolean
  /**
   * The namespaces of its operations: that of the source, in which it is opened; others, which become part of their names;
   * or their own, unless the source has one. Those may call operations of any source.
   */
  readonly namespaces: "source" | "nested" | "own"
}
