/** The approval of all calls of an operation by one caller, until somebody removes it. */
export interface StandingApproval {
  readonly operation: string
  /** The id of the caller; `null` for anonymous ones. */
  readonly caller: string | null
  /** The id of the person who gave it. */
  readonly by?: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Where a person keeps approvals that hold until they remove them. */
export interface StandingApprovals {
  find(caller: string | undefined, operation: string): Promise<StandingApproval | undefined>
  add(approval: StandingApproval): Promise<void>
}
