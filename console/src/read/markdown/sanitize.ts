import createDOMPurify from "dompurify"
import { ADDRESS, ATTRIBUTES, TAGS } from "./plain-html.ts"

const purify = createDOMPurify(window)

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A" || !node.hasAttribute("href")) return
  node.setAttribute("target", "_blank")
  node.setAttribute("rel", "noopener noreferrer nofollow")
})

/** HTML as elements of the page: nothing in them can run, load anything, or leave its place. */
export function sanitize(html: string): DocumentFragment {
  return purify.sanitize(html, {
    ALLOWED_TAGS: [...TAGS],
    ALLOWED_ATTR: [...ATTRIBUTES],
    ALLOWED_URI_REGEXP: ADDRESS,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    KEEP_CONTENT: true,
    // No second reading of a text, which is where harmless markup has turned into harmful one.
    RETURN_DOM_FRAGMENT: true,
  })
}
