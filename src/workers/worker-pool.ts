// Orders to processes of which there are never more than so many: the others wait in turn, and are refused where too many
// wait already. Whatever goes wrong in a process ends it; the next order gets another one.
import { startWorker, type Worker } from './start-worker.ts'
import { WorkerFault } from './worker-fault.ts'

export interface WorkerPool<Order, Answer> {
  /**
   * Rejects with a WorkerFault; `milliseconds` count from the moment when a process takes the order. Nothing else is done
   * in that process meanwhile: what is wrong there comes of this order.
   */
  run(order: Order, milliseconds: number): Promise<Answer>
  /** Ends all processes; what waits is rejected as `closed`. Resolves when they are gone. */
  close(): Promise<void>
}

export interface WorkerPoolOptions {
  /** The module that a process runs: it calls answerOrders(). */
  readonly script: URL
  /** Megabytes of heap for each process. */
  readonly heap: number
  /** At once. They are started when there is work for them. */
  readonly processes: number
  /** Orders that may wait for a process: each of them lies in our memory. */
  readonly mostWaiting: number
  /** Orders after which a process is ended all the same: nothing that one left behind stays for long. */
  readonly mostOrders?: number
  /** Milliseconds that a process waits for another order. */
  readonly longestRest: number
  /** Times that an order is tried, each in a new process: a machine may have been busy with something else. */
  readonly mostTries?: number
}

interface Place<Order, Answer> {
  readonly worker: Worker<Order, Answer>
  orders: number
  clock?: NodeJS.Timeout
}

export function openWorkerPool<Order, Answer>(options: WorkerPoolOptions): WorkerPool<Order, Answer> {
  const { script, heap, processes, mostWaiting, mostOrders = Infinity, longestRest, mostTries = 1 } = options
  const places = new Set<Place<Order, Answer>>()
  /** The last that worked is the first to work again, so that the others may end. */
  const resting: Place<Order, Answer>[] = []
  const queue: PromiseWithResolvers<void>[] = []
  let working = 0
  let closed = false

  function enter(): Promise<void> {
    if (closed) return Promise.reject(closedFault())
    if (working < processes) {
      working += 1
      return Promise.resolve()
    }
    if (queue.length >= mostWaiting)
      return Promise.reject(new WorkerFault('crowded', `${mostWaiting} others wait already`))
    const turn = Promise.withResolvers<void>()
    queue.push(turn)
    return turn.promise
  }

  function leave(): void {
    const next = queue.shift()
    if (next) next.resolve()
    else working -= 1
  }

  function takePlace(): Place<Order, Answer> {
    for (let place = resting.pop(); place; place = resting.pop()) {
      clearTimeout(place.clock)
      if (!place.worker.isGone) return place
      places.delete(place)
    }
    const place = { worker: startWorker<Order, Answer>(script, heap), orders: 0 }
    places.add(place)
    return place
  }

  function dismiss(place: Place<Order, Answer>): void {
    void place.worker.end().then(() => places.delete(place))
  }

  function rest(place: Place<Order, Answer>): void {
    resting.push(place)
    place.clock = setTimeout(() => {
      resting.splice(resting.indexOf(place), 1)
      dismiss(place)
    }, longestRest).unref()
  }

  async function tryOnce(order: Order, milliseconds: number): Promise<Answer> {
    const place = takePlace()
    try {
      const answer = await place.worker.ask(order, milliseconds)
      place.orders += 1
      if (place.orders < mostOrders) rest(place)
      else dismiss(place)
      return answer
    } catch (error) {
      dismiss(place)
      throw error
    }
  }

  return {
    async run(order, milliseconds) {
      await enter()
      try {
        for (let tries = 1; ; tries += 1) {
          if (closed) throw closedFault()
          try {
            return await tryOnce(order, milliseconds)
          } catch (error) {
            if (tries >= mostTries || !(error instanceof WorkerFault)) throw error
          }
        }
      } finally {
        leave()
      }
    },
    async close() {
      closed = true
      for (const turn of queue.splice(0)) turn.reject(closedFault())
      await Promise.all([...places].map(({ worker, clock }) => (clearTimeout(clock), worker.end())))
    },
  }
}

const closedFault = () => new WorkerFault('closed', 'the processes are ended: nothing more is begun')
