import type { ReactNode } from "react"
import { IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { favourites, useKeptIds } from "./kept-ids.ts"

/** Marks an operation, so that it is listed first. */
export function FavouriteButton({ id }: { readonly id: string }): ReactNode {
  const isMarked = useKeptIds(favourites).includes(id)
  return (
    <IconButton
      label="Favourite"
      size="small"
      aria-pressed={isMarked}
      className="favourite"
      onClick={() => favourites.toggle(id)}
    >
      <Icon name="star" />
    </IconButton>
  )
}
