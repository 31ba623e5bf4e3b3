import { describe, expect, test } from "vitest"
import { Session } from "../../../console/src/api/session.ts"

const ADA = { kind: "key", value: "k-ada" } as const
const BOB = { kind: "token", value: "t-bob" } as const

function namesOf(session: Session): (string | undefined)[] {
  return session.identities().map(({ name }) => name)
}

describe("Session", () => {
  test("keeps several identities, of which one is used", () => {
    const session = new Session()
    session.setCredential(ADA)
    session.setName("ada")
    session.setCredential(BOB)
    session.setName("bob")
    expect([session.credential, namesOf(session)]).toEqual([BOB, ["ada", "bob"]])
    session.setCredential(ADA)
    expect([session.credential, namesOf(session)]).toEqual([ADA, ["bob", "ada"]])
  })

  test("knows a credential that is entered twice", () => {
    const session = new Session()
    session.setCredential(ADA)
    session.setName("ada")
    session.setCredential({ ...ADA })
    expect(namesOf(session)).toEqual(["ada"])
  })

  test("forgets the identity in use on signing out, and no other", () => {
    const session = new Session()
    session.setCredential(ADA)
    session.setCredential(BOB)
    session.setName("bob")
    session.setCredential(undefined)
    expect(session.credential).toBeUndefined()
    expect(session.identities()).toEqual([{ credential: ADA, name: undefined }])
    session.setCredential(undefined)
    session.setName("nobody")
    expect(session.identities()).toHaveLength(1)
  })

  test("notifies of a new name once", () => {
    const session = new Session()
    session.setCredential(ADA)
    let count = 0
    session.subscribe(() => count++)
    session.setName("ada")
    session.setName("ada")
    expect(count).toBe(1)
  })
})
