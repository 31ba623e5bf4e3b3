import { ProblemError } from "../api/model.ts"

/** Whether a retry would not help: missing rights, or no such resource. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && [401, 403, 404].includes(error.status)
}
