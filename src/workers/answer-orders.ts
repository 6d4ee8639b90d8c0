// A worker's end of its channel: an order in, its answer or the words of its failure out. The process ends with the one
// that started it.

export type WorkerReply<Answer> = { readonly answer: Answer } | { readonly failure: string }

/** Does all orders that come. For the module that a worker runs, once. */
export function answerOrders<Order, Answer>(work: (order: Order) => Answer | Promise<Answer>): void {
  const send = (reply: WorkerReply<Answer>) => process.send?.(reply)
  process.on('message', (order: Order) => {
    void (async () => {
      try {
        // What cannot be sent is a failure, too.
        send({ answer: await work(order) })
      } catch (error) {
        send({ failure: String(error) })
      }
    })()
  })
}
