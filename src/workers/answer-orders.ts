// A worker's end of its channel: an order in, its answer or the words of its failure out. The process ends with the one
// that started it. While it works it may call back for what only the other side can say.

import { keepCompiled } from './keep-compiled.ts'

export type WorkerReply<Answer> =
  | { readonly answer: Answer }
  | { readonly failure: string }
  | { readonly call: number; readonly request: unknown }

export type WorkerOrder<Order> =
  | { readonly order: Order }
  | { readonly call: number; readonly said: unknown }
  | { readonly call: number; readonly refused: string }

/** Asks the one who gave the order. Rejects with the words of the refusal. */
export type CallBack = (request: unknown) => Promise<unknown>

/** Does all orders that come. For the module that a worker runs, once. */
export function answerOrders<Order, Answer>(
  work: (order: Order, call: CallBack) => Answer | Promise<Answer>,
): void {
  // Now: nothing that a stranger wrote has been read yet.
  keepCompiled()
  const send = (reply: WorkerReply<Answer>) => process.send?.(reply)
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  const call: CallBack = (request) => {
    const waiting = Promise.withResolvers<unknown>()
    calls.set(++last, waiting)
    send({ call: last, request })
    return waiting.promise
  }
  process.on('message', (message: WorkerOrder<Order>) => {
    if ('call' in message) {
      const waiting = calls.get(message.call)
      calls.delete(message.call)
      if ('said' in message) waiting?.resolve(message.said)
      else waiting?.reject(new Error(message.refused))
      return
    }
    void (async () => {
      try {
        // What cannot be sent is a failure, too.
        send({ answer: await work(message.order, call) })
      } catch (error) {
        send({ failure: String(error) })
      }
    })()
  })
}
