import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

// The page is served under any path, by a hub that may have a base path: every address is relative.
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    // The policy of the page allows no inline script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
