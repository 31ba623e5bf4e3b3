import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { Shop, ShopError } from "./shop-data.ts"
import type { NewOrder, Product } from "./shop-data.ts"

// The configuration is loaded again when it changes; the shop keeps running.
const STARTED = Symbol.for("@alkdev/operations/demo/shop")
const places = globalThis as { [STARTED]?: Promise<string> | undefined }

/** Starts the shop, a REST API on loopback that also serves its OpenAPI document, and returns its URL. */
export function startShop(): Promise<string> {
  places[STARTED] ??= start(new Shop())
  return places[STARTED]
}

async function start(shop: Shop): Promise<string> {
  const server = createServer((request, response) => {
    answer(shop, request, response).catch((error: unknown) => refuse(response, error))
  })
  // Does not keep the process alive.
  server.on("connection", (socket) => socket.unref())
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(
  shop: Shop,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://shop")
  const [kind, key = "", part] = pathname.slice(1).split("/").map(decodeURIComponent)
  switch (`${request.method} ${kind}${key === "" ? "" : "/:key"}${part ? `/${part}` : ""}`) {
    case "GET openapi.yaml":
      response.writeHead(200, { "content-type": "application/yaml" })
      response.end(await readFile(new URL("shop-openapi.yaml", import.meta.url)))
      return
    case "GET products":
      return json(response, 200, shop.products(searchParams))
    case "GET products/:key":
      return json(response, 200, shop.product(key))
    case "GET products/:key/label": {
      const image = label(shop.product(key))
      response.writeHead(200, { "content-type": "image/svg+xml" }).end(image)
      return
    }
    case "GET orders":
      return json(response, 200, shop.orders(searchParams.get("status")))
    case "POST orders":
      return json(response, 201, shop.place(JSON.parse(await text(request)) as NewOrder))
    case "GET orders/:key":
      return json(response, 200, shop.order(Number(key)))
    case "POST orders/:key/cancel":
      return json(response, 200, shop.cancel(Number(key)))
    case "GET events":
      return follow(shop, response)
    default:
      throw new ShopError(404, `There is no ${request.method} ${pathname}.`)
  }
}

function follow(shop: Shop, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
  const stop = shop.follow((order) => response.write(`data: ${JSON.stringify(order)}\n\n`))
  response.on("close", stop)
}

function label({ name, price, stock }: Product): string {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 96" font-family="sans-serif">`,
    `<rect width="240" height="96" rx="10" fill="#fdf6e3" stroke="#8a5a2b" stroke-width="3"/>`,
    `<text x="16" y="34" font-size="18" fill="#3b2a1a">${name}</text>`,
    `<text x="16" y="74" font-size="30" fill="#8a5a2b">${(price / 100).toFixed(2)} €</text>`,
    `<text x="224" y="74" font-size="14" text-anchor="end" fill="#777">${stock} left</text>`,
    "</svg>",
  ]
  return lines.join("\n")
}

function refuse(response: ServerResponse, error: unknown): void {
  if (error instanceof ShopError) json(response, error.status, error.body)
  else json(response, 400, { message: "That is nothing the shop understands." })
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}
