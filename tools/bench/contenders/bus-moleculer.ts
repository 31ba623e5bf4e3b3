/**
 * Moleculer over a broker with default settings; its own validator checks the input, and the output is not
 * checked.
 */
import { ServiceBroker } from "moleculer"
import type { Context } from "moleculer"
import { quote } from "../cases.ts"
import type { QuoteInput } from "../cases.ts"
import type { BusContender } from "./bus.ts"
import { quoteParams } from "./moleculer.ts"

/** A service in one process and a call of it from another. The scheme of the address selects the broker. */
export const moleculerOverBus: BusContender = {
  async serve(url) {
    const broker = new ServiceBroker({ nodeID: "worker", transporter: url, logger: false })
    broker.createService({
      name: "shop",
      actions: {
        quote: {
          params: quoteParams,
          handler: (context: Context<QuoteInput>) => quote(context.params),
        },
      },
    })
    await broker.start()
  },
  async connect(url) {
    const broker = new ServiceBroker({
      nodeID: "caller",
      transporter: url,
      logger: false,
      requestTimeout: 30_000,
    })
    await broker.start()
    await broker.waitForServices("shop")
    return {
      call: (input) => broker.call("shop.quote", input),
      data: (result) => result,
    }
  },
}
