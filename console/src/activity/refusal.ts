import { ProblemError } from "../api/model.ts"

/** Whether asking again would not help: whoever asks may not, or there is no such thing. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && [401, 403, 404].includes(error.status)
}
