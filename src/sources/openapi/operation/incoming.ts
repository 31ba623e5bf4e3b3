import { isRecord } from "../../../internal/guards.ts"
import { isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import { isMethod } from "./list.ts"
import type { RawOperation } from "./list.ts"
import { followedChild } from "./media.ts"

/** Counts the webhooks of a document. */
export function countWebhooks(document: OpenAPIDocument): number {
  const webhooks =
    followedChild(document, document.place, "webhooks") ??
    followedChild(document, document.place, "x-webhooks")
  return countItems(document, webhooks)
}

/** Counts the callbacks of an operation. */
export function countCallbacks(document: OpenAPIDocument, operation: RawOperation): number {
  const declared = operation.member("callbacks")
  if (declared === undefined) return 0
  const callbacks = document.follow(declared)
  if (isBroken(callbacks)) return 0
  return membersOf(document, callbacks).reduce((sum, one) => sum + countItems(document, one), 0)
}

/** Counts the operations in a map of path items. */
function countItems(document: OpenAPIDocument, map: Place | undefined): number {
  return membersOf(document, map)
    .flatMap(({ value }) => (isRecord(value) ? Object.keys(value) : []))
    .filter(isMethod).length
}

function membersOf(document: OpenAPIDocument, map: Place | undefined): Place[] {
  if (map === undefined || !isRecord(map.value)) return []
  return Object.keys(map.value).flatMap((key) => {
    const member = key.startsWith("x-") ? undefined : followedChild(document, map, key)
    return member === undefined ? [] : [member]
  })
}
