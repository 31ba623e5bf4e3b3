import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { pathScore, readRequest } from "../../src/search/requests.ts"

describe("readRequest", () => {
  test("reads paths, with and without a method, and URLs", () => {
    expect(readRequest(" /pets ")).toMatchObject({ method: undefined, segments: ["pets"] })
    expect(readRequest("get /Pets/{id}")).toMatchObject({
      method: "GET",
      segments: ["pets", "{id}"],
    })
    expect(readRequest("v1/refunds")).toMatchObject({ segments: ["v1", "refunds"] })
    expect(readRequest("/pets/")).toMatchObject({ segments: ["pets", ""] })
    expect(readRequest("POST https://api.example.com:8080/v1/pets?limit=2#top")).toMatchObject({
      method: "POST",
      segments: ["v1", "pets"],
    })
  })

  test("reads a method in capital letters before words, and no other verb", () => {
    expect(readRequest("DELETE repo")).toEqual({ method: "DELETE", words: "repo" })
    expect(readRequest("delete repo")).toBeUndefined()
    expect(readRequest("DELETE")).toBeUndefined()
    expect(readRequest("read/write some files")).toBeUndefined()
    expect(readRequest("")).toBeUndefined()
    expect(readRequest("/".repeat(100_000))?.segments).toHaveLength(32)
  })
})

describe("pathScore", () => {
  const score = (query: string, path: string): number =>
    pathScore(readRequest(query)?.segments ?? [], path)

  test("puts the whole path before a beginning, and that before a later part", () => {
    const paths = ["/pets", "/pets/{id}", "/pets/{id}/toys", "/shops/{id}/pets", "/toys"]
    const ranked = paths.toSorted((a, b) => score("/pets", b) - score("/pets", a))
    expect(ranked).toEqual(paths)
    expect(score("/pets", "/toys")).toBe(0)
    expect(score("/pet", "/pets")).toBeGreaterThan(score("/pet", "/pets/{id}"))
    expect(score("/pet", "/pets")).toBeLessThan(score("/pets", "/pets"))
  })

  test("fills placeholders with anything, and prefers a word", () => {
    expect(score("/repos/octocat/hello/issues", "/repos/{owner}/{repo}/issues")).toBeGreaterThan(3)
    expect(score("/pets/{petId}", "/pets/{id}")).toBeGreaterThan(3)
    expect(score("/pets/mine", "/pets/mine")).toBeGreaterThan(score("/pets/mine", "/pets/{id}"))
  })

  test("finds nothing by placeholders alone", () => {
    expect(score("/pets", "/{name}")).toBe(0)
    expect(score("/pets", "/shops/{id}")).toBe(0)
    expect(score("/", "/pets/{id}")).toBeGreaterThan(0)
    expect(score("/a/b", "/a")).toBe(0)
    expect(score("/pets", "")).toBe(0)
  })

  test("reads any two texts", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (query, path) => {
        const found = score(`/${query.replaceAll(/\s/g, "")}`, path)
        expect(found).toBeGreaterThanOrEqual(0)
        expect(found).toBeLessThan(4)
      }),
    )
  })
})
