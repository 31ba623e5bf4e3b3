/** Drawn on a grid of 16 by 16, in the colour of the text. */
export const ICON_PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14",
  back: "M9.5 3 4.5 8l5 5",
  next: "m6.5 3 5 5-5 5",
  down: "m3 6 5 5 5-5",
  close: "m3.5 3.5 9 9m0-9-9 9",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  link: "M6.5 9.5 9.5 6.5M7.5 4.5l1-1a2.8 2.8 0 0 1 4 4l-1 1M8.5 11.5l-1 1a2.8 2.8 0 0 1-4-4l1-1",
  check: "m3 8.5 3.5 3.5L13 4.5",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1v1.6m0 10.8V15M1 8h1.6m10.8 0H15M3 3l1.2 1.2m7.6 7.6L13 13m0-10-1.2 1.2M4.2 11.8 3 13",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6Z",
  screen: "M2 3h12v8H2zM6 14h4M8 11v3",
  key: "M10.5 2.5a3 3 0 1 1-2.6 4.5L3 12v1.5h2V12h1.5v-1.5L8.3 9",
  leave: "M6.5 2.5h-4v11h4M6.5 8h7m-3-3 3 3-3 3",
  activity: "M1.5 8.5h3l2-5 3 9 2-4h3",
  sources: "M2.5 3h11v3.5h-11zM2.5 9.5h11V13h-11zM5 4.8h.01M5 11.3h.01",
  history: "M2.5 8a5.5 5.5 0 1 0 1.7-4M2.5 2v2.6h2.6M8 5v3.2l2 1.3",
  approve: "M8 1.8 13 4v4c0 3-2 5-5 6.2C5 13 3 11 3 8V4zM5.5 8l2 2 3.2-3.6",
  help: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.4M8 11.8h.01M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8Z",
  play: "m4.5 3 8 5-8 5z",
  stop: "M4 4h8v8H4z",
  pause: "M5 3.5v9m6-9v9",
  plus: "M8 3v10M3 8h10",
  warn: "M8 2.2 14.5 13.5h-13zM8 6.5v3.2m0 2h.01",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9",
  query:
    "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
  mutation: "m10.5 3 2.5 2.5L5.5 13H3v-2.5zM9 4.5 11.5 7",
  subscription:
    "M8 8h.01M5.2 5.2a4 4 0 0 0 0 5.6m5.6-5.6a4 4 0 0 1 0 5.6M3 3a7 7 0 0 0 0 10M13 3a7 7 0 0 1 0 10",
  star: "m8 2 1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5z",
  filter: "M2 3.5h12L9.5 8.8V13l-3-1.5V8.8z",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.2 5.2h.01",
  home: "M2.5 7.5 8 3l5.5 4.5v6h-4v-4h-3v4h-4z",
  folder: "M2 4h4l1.5 2H14v7H2z",
  globe: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM2 8h12M8 2c-4 4-4 8 0 12 4-4 4-8 0-12",
  plug: "M6 2v4m4-4v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v2.5",
  hub: "M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM3 3l3.5 3.5M13 3 9.5 6.5M3 13l3.5-3.5M13 13 9.5 9.5",
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 2v2.6h-2.6",
} as const

export type IconName = keyof typeof ICON_PATHS

/** The icon of each kind of source. */
export const SOURCE_ICONS: Readonly<Partial<Record<string, IconName>>> = {
  scan: "folder",
  openapi: "globe",
  mcp: "plug",
  remote: "hub",
  skills: "star",
}
