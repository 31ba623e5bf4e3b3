const CURSOR = ["cursor", "next_cursor", "start_cursor", "nextCursor", "page[cursor]", "after"]
const TOKEN = ["pageToken", "page_token", "nextPageToken", "next_page_token"]

/** Common places of cursors in responses, and the inputs that take them. */
export const CURSORS: readonly (readonly [from: string, to: readonly string[]])[] = [
  ["/response_metadata/next_cursor", CURSOR],
  ["/next_cursor", CURSOR],
  ["/nextCursor", CURSOR],
  ["/meta/next_cursor", CURSOR],
  ["/pagination/next_cursor", CURSOR],
  ["/pagination/nextCursor", CURSOR],
  ["/paging/next_cursor", CURSOR],
  ["/meta/page/after", ["page[cursor]", "page[after]"]],
  ["/nextPageToken", TOKEN],
  ["/next_page_token", TOKEN],
  ["/nextToken", ["nextToken", "next_token"]],
  ["/NextToken", ["NextToken"]],
  ["/next_token", ["next_token", "nextToken", "pagination_token"]],
  ["/meta/next_token", ["pagination_token", "next_token"]],
  ["/metadata/continue", ["continue"]],
  ["/paging/next/after", ["after"]],
  ["/paging/cursors/after", ["after"]],
  ["/pageInfo/endCursor", ["after", "cursor"]],
  ["/page_info/end_cursor", ["after", "cursor"]],
  ["/pagination/cursor", ["after", "cursor"]],
  ["/next_marker", ["marker"]],
  ["/nextMarker", ["marker"]],
  ["/NextMarker", ["Marker", "marker"]],
  ["/continuation_token", ["continuation_token"]],
  ["/continuationToken", ["continuationToken"]],
  ["/cursor", ["cursor"]],
  ["/next", ["next", ...CURSOR, ...TOKEN]],
  ["/next_page", ["page", "next_page", ...TOKEN]],
  ["/nextPage", ["page", "nextPage", ...TOKEN]],
  ["/meta/next_page", ["page"]],
  ["/pagination/next_page", ["page"]],
]

/** Common places of the address of the next page. */
export const NEXT_URLS: readonly string[] = [
  ...["/@odata.nextLink", "/nextLink", "/odata.nextLink", "/_links/next/href"],
  ...["/links/next/href", "/links/next", "/_links/next", "/next", "/next_page_uri"],
  ...["/next_page_url", "/next_url", "/nextUrl", "/next_page", "/nextPage", "/paging/next"],
  ...["/pagination/next", "/pagination/next_url", "/meta/next", "/meta/next_page_url"],
]

/** Common flags for whether there are more pages. */
export const FLAGS: readonly string[] = [
  ...["/has_more", "/hasMore", "/has_next", "/hasNext", "/hasNextPage", "/has_next_page"],
  ...["/pageInfo/hasNextPage", "/page_info/has_next_page", "/meta/has_more"],
  ...["/pagination/has_more", "/pagination/hasMore"],
]

/** Inputs that take the id of the last item, for responses with only a flag. */
export const AFTER_ITEM: readonly string[] = ["starting_after", "after", "after_id", "start_after"]

export const PAGES: readonly string[] = [
  ...["page", "page_number", "pageNumber", "pageNo", "page_no", "page[number]", "pageIndex"],
  ...["page_index", "Page", "current_page"],
]

export const OFFSETS: readonly string[] = [
  ...["offset", "skip", "$skip", "startAt", "startIndex", "start_index", "start", "page[offset]"],
]
