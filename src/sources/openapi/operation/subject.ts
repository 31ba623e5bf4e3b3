import { isString } from "../../../internal/guards.ts"
import { child, objectAt, type Place } from "../document.ts"
import { propertiesOf } from "./body.ts"
import type { Media } from "./media.ts"

/** What a body or a response is, as its schema describes it; of a list, what its items are. */
export function subjectOf(
  content: { readonly media: readonly Media[] } | undefined,
): string | undefined {
  const media = content?.media.find((one) => one.class === "json") ?? content?.media[0]
  const whole = objectAt(media?.schema)
  if (whole === undefined) return undefined
  const isList = whole.value["type"] === "array"
  const item = objectAt(isList ? child(whole, "items") : onlyItems(whole))
  return [item, whole].map((place) => place?.value["description"]).find(isString)
}

/** The items of a page: an object with exactly one list. */
function onlyItems(page: Place): Place | undefined {
  const lists = Array.from(propertiesOf(page).values(), (member) => objectAt(member)).filter(
    (member) => member?.value["type"] === "array",
  )
  const [list] = lists
  return lists.length === 1 && list !== undefined ? child(list, "items") : undefined
}
