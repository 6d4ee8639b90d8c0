// The worker's end of the channel: receives orders and sends answers or error messages. It can call back to the parent,
// and the process ends with its parent.

import { flushCompileCache } from 'node:module'

export type MessageFromWorker<Answer> =
  | { readonly answer: Answer }
  | { readonly failure: string }
  | { readonly call: number; readonly request: unknown }

export type MessageToWorker<Order> =
  | { readonly order: Order }
  | { readonly call: number; readonly response: unknown }
  | { readonly call: number; readonly rejection: string }

/** Asks the parent during an order. Rejects with the parent's error message. */
export type ParentProcessRequestSender = (request: unknown) => Promise<unknown>

/** Answers all orders. A worker's module calls it once. */
export function serveWorkerRequests<Order, Answer>(
  work: (order: Order, call: ParentProcessRequestSender) => Answer | Promise<Answer>,
): void {
  // Done now, before the process reads any untrusted input.
  saveCompileCache()
  const send = (reply: MessageFromWorker<Answer>) => process.send?.(reply)
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  const call: ParentProcessRequestSender = (request) => {
    const waiting = Promise.withResolvers<unknown>()
    calls.set(++last, waiting)
    send({ call: last, request })
    return waiting.promise
  }
  process.on('message', (message: MessageToWorker<Order>) => {
    if ('call' in message) {
      const waiting = calls.get(message.call)
      calls.delete(message.call)
      if ('response' in message) waiting?.resolve(message.response)
      else waiting?.reject(new Error(message.rejection))
      return
    }
    void (async () => {
      let isOver = false
      // What an order leaves running must not call: the parent would end the process, or answer for the next order.
      const callDuringOrder: ParentProcessRequestSender = (request) =>
        isOver ? Promise.reject(new Error('the order has ended')) : call(request)
      try {
        const answer = await work(message.order, callDuringOrder)
        isOver = true
        calls.clear()
        // Failing to serialize the answer is a failure, too.
        send({ answer })
      } catch (error) {
        send({ failure: String(error) })
      }
    })()
  })
}

/**
 * Prevents prototype pollution through keys such as `__proto__` in untrusted input. Seals instead of freezing, because
 * libraries assign properties that shadow those of shared prototypes. The process ends with its parent.
 */
export function preventPrototypePollution(): void {
  const shared: readonly { readonly prototype: object }[] = [
    Object,
    Array,
    Function,
    String,
    Number,
    Map,
    Set,
  ]
  for (const { prototype } of shared) Object.seal(prototype)
  process.on('disconnect', () => process.exit())
}

/**
 * Node saves its compile cache only on a normal exit, which workers and killed Apps don't have. Without the cache each
 * process would compile all sources again, which takes over a second. Saves the compile cache for the next process;
 * does nothing if there is no cache folder.
 */
export const saveCompileCache = flushCompileCache
