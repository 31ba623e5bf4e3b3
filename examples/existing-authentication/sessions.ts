import type { User } from "./members.ts"

/** Stands for the sessions of an application. */
export function userOf(cookie: string | null | undefined): User | undefined {
  const id = /(?:^|; )session=(\w+)/.exec(cookie ?? "")?.[1]
  return id === undefined ? undefined : { id, roles: id === "ada" ? ["member"] : [] }
}
