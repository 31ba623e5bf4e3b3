/** A product and its stock. */
export interface Product {
  readonly sku: string
  readonly name: string
  readonly category: "coffee" | "tea" | "cup"
  /** In cents. */
  readonly price: number
  stock: number
}

export interface Item {
  readonly sku: string
  readonly quantity?: number
}

export interface NewOrder {
  readonly customer: { readonly name: string; readonly email?: string }
  readonly items: readonly Item[]
  readonly delivery?: Readonly<Record<string, string>>
  readonly note?: string
}

export interface Order extends NewOrder {
  readonly id: number
  status: "open" | "cancelled"
  readonly total: number
}

/** An error response of the shop. */
export class ShopError extends Error {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.status = status
    this.body = { message, ...details }
  }
}

/** Products and orders, in memory only. */
export class Shop {
  readonly #orders: Order[] = []
  readonly #listeners = new Set<(order: Order) => void>()
  readonly #products: Product[] = [
    { sku: "yirgacheffe", name: "Yirgacheffe, 250 g", category: "coffee", price: 1290, stock: 24 },
    { sku: "house-blend", name: "House blend, 500 g", category: "coffee", price: 1450, stock: 61 },
    { sku: "decaf", name: "Decaf, 250 g", category: "coffee", price: 1090, stock: 4 },
    { sku: "sencha", name: "Sencha, 100 g", category: "tea", price: 890, stock: 17 },
    { sku: "earl-grey", name: "Earl Grey, 100 g", category: "tea", price: 690, stock: 33 },
    { sku: "mug", name: "Mug, blue", category: "cup", price: 1200, stock: 8 },
    { sku: "tumbler", name: "Tumbler, steel", category: "cup", price: 2450, stock: 2 },
  ]

  products(asked: URLSearchParams): Product[] {
    const category = asked.get("category")
    const maxPrice = Number(asked.get("maxPrice") ?? Infinity)
    const below = Number(asked.get("below") ?? Infinity)
    const sort = asked.get("sort") ?? "price"
    return this.#products
      .filter((one) => category === null || one.category === category)
      .filter(({ price, stock }) => price <= maxPrice && stock < below)
      .toSorted((left, right) => {
        if (sort === "name") return left.name.localeCompare(right.name)
        return sort === "stock" ? left.stock - right.stock : left.price - right.price
      })
  }

  product(sku: string): Product {
    const found = this.#products.find((one) => one.sku === sku)
    if (found !== undefined) return found
    throw new ShopError(404, `There is no product "${sku}".`)
  }

  orders(status: string | null): Order[] {
    return this.#orders.filter((one) => status === null || one.status === status).toReversed()
  }

  order(id: number): Order {
    const found = this.#orders.find((one) => one.id === id)
    if (found !== undefined) return found
    throw new ShopError(404, `There is no order ${id}.`)
  }

  place(wanted: NewOrder): Order {
    const lines = wanted.items.map(({ sku, quantity = 1 }) => ({ ...this.product(sku), quantity }))
    for (const { sku, stock, quantity } of lines) {
      if (quantity <= stock) continue
      const message = `Only ${stock} of "${sku}" are left.`
      throw new ShopError(409, message, { sku, left: stock })
    }
    this.#take(wanted, -1)
    const total = lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0)
    const order: Order = { ...wanted, id: 1001 + this.#orders.length, status: "open", total }
    this.#orders.push(order)
    this.#notify(order)
    return order
  }

  cancel(id: number): Order {
    const order = this.order(id)
    if (order.status === "cancelled") return order
    order.status = "cancelled"
    this.#take(order, 1)
    this.#notify(order)
    return order
  }

  /** Calls a listener for each order that is placed or cancelled; returns a function that stops this. */
  follow(listener: (order: Order) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #take({ items }: NewOrder, sign: 1 | -1): void {
    for (const { sku, quantity = 1 } of items) this.product(sku).stock += sign * quantity
  }

  #notify(order: Order): void {
    for (const listener of this.#listeners) listener(order)
  }
}
