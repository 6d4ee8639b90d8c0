// Distributes orders to a limited number of processes. Other orders wait, and are refused if too many wait. A fault
// ends the process, and the next order gets a new one.
import type { CallBack } from './answer-orders.ts'
import { startWorker, type Worker, type WorkerKind } from './start-worker.ts'
import { WorkerFault } from './worker-fault.ts'

export interface WorkerPool<Order, Answer> {
  /**
   * Rejects with a WorkerFault. `milliseconds` count from when a process takes the order, without the time in
   * `callBack`. A process runs one order at a time, so a fault is due to its order. Waiting orders whose `key` has none
   * running go first.
   */
  run(order: Order, milliseconds: number, callBack?: CallBack, key?: string): Promise<Answer>
  /** Ends all processes and resolves when they are gone. Rejects waiting orders as `closed`. */
  close(): Promise<void>
}

export interface WorkerPoolOptions<Answer> extends WorkerKind {
  /** The maximum at the same time. They start on demand. */
  readonly processes: number
  /** Orders that may wait; each takes memory in this process. */
  readonly mostWaiting: number
  /** Orders after which a process is replaced, which limits the lifetime of leftover state. */
  readonly mostOrders?: number
  /** Milliseconds after which an idle process ends. */
  readonly longestRest: number
  /** Each process serves only one key, so that no leftover state reaches another key. */
  readonly isForOneKey?: boolean
  /** Whether a process may take another order after this answer and this CPU time. */
  readonly staysFit?: (answer: Answer, milliseconds: number) => boolean
  /**
   * Milliseconds that an order waits for a busy process before another starts, because starting costs more CPU time
   * than most orders. Default: it does not wait.
   */
  readonly growsAfter?: number
  /** Attempts per order, each in a new process: the machine may have been busy. */
  readonly mostTries?: number
  /**
   * CPU milliseconds after which an order is ended as `displaced` if another order waits; or four times as many of wall
   * time. Absent: never.
   */
  readonly displacedAfter?: number
}

interface Place<Order, Answer> {
  /** The key it serves, if processes are kept apart. */
  readonly key: string
  readonly worker: Worker<Order, Answer>
  orders: number
  /** When it took its current order. */
  since: number
  /** CPU time of the process at that moment. */
  usedBefore: number
  clock?: NodeJS.Timeout
}

export function openWorkerPool<Order, Answer>(options: WorkerPoolOptions<Answer>): WorkerPool<Order, Answer> {
  const {
    processes,
    mostWaiting,
    mostOrders = Infinity,
    longestRest,
    mostTries = 1,
    displacedAfter,
    isForOneKey = false,
    growsAfter = 0,
    staysFit = () => true,
  } = options
  const places = new Set<Place<Order, Answer>>()
  /** A stack: the last used process is reused first, so that the others can end. */
  const resting: Place<Order, Answer>[] = []
  const atWork = new Set<Place<Order, Answer>>()
  const hoping = new Set<{ readonly key: string; readonly over: () => void }>()
  const queue: { readonly turn: PromiseWithResolvers<void>; readonly key: string }[] = []
  const underWay = new Map<string, number>()
  let working = 0
  let closed = false
  let displacing: NodeJS.Timeout | undefined

  async function enter(key: string): Promise<void> {
    if (closed) throw closedFault()
    if (working < processes) working += 1
    else {
      if (queue.length >= mostWaiting) throw new WorkerFault('crowded', `${mostWaiting} others wait already`)
      const turn = Promise.withResolvers<void>()
      queue.push({ turn, key })
      displace()
      await turn.promise
    }
    underWay.set(key, (underWay.get(key) ?? 0) + 1)
  }

  function leave(key: string): void {
    const others = (underWay.get(key) ?? 1) - 1
    if (others > 0) underWay.set(key, others)
    else underWay.delete(key)
    const fair = queue.findIndex((waiting) => !underWay.has(waiting.key))
    const [next] = queue.splice(Math.max(fair, 0), 1)
    if (next) next.turn.resolve()
    else working -= 1
  }

  /** While orders wait, ends the longest-running order once it has had its time. */
  function displace(): void {
    if (displacedAfter === undefined || displacing || queue.length === 0) return
    let longest: { place: Place<Order, Answer>; worked: number } | undefined
    for (const place of atWork) {
      const worked = workedBy(place)
      if (longest === undefined || worked > longest.worked) longest = { place, worked }
    }
    if (longest && longest.worked >= displacedAfter) {
      atWork.delete(longest.place)
      longest.place.worker.stop(new WorkerFault('displaced', 'others waited'))
    }
    displacing = setTimeout(() => {
      displacing = undefined
      displace()
    }, 50).unref()
  }

  function workedBy({ worker, since, usedBefore }: Place<Order, Answer>): number {
    const passed = performance.now() - since
    const used = worker.used()
    return used === undefined ? passed : Math.max(used - usedBefore, passed / 4)
  }

  /** Waits until a process of this key is free, none is working, or the time is over. */
  async function hope(key: string): Promise<void> {
    const over = Promise.withResolvers<void>()
    const one = { key, over: over.resolve }
    hoping.add(one)
    const clock = setTimeout(over.resolve, growsAfter)
    await over.promise
    clearTimeout(clock)
    hoping.delete(one)
    if (closed) throw closedFault()
  }

  const restingFor = (key: string) => resting.filter((place) => place.key === key).length
  const isOneAtWork = (key: string) => [...atWork].some((place) => place.key === key)

  function encourage(key: string): void {
    const those = [...hoping].filter((one) => one.key === key)
    // Each free process goes to the first order; without any, the orders need new ones.
    const free = restingFor(key)
    for (const { over } of free > 0 || isOneAtWork(key) ? those.slice(0, free) : those) over()
  }

  function takePlace(key: string): Place<Order, Answer> {
    for (;;) {
      const at = resting.findLastIndex((place) => place.key === key)
      const [place] = at < 0 ? [] : resting.splice(at, 1)
      if (!place) break
      clearTimeout(place.clock)
      if (!place.worker.isGone) return place
      places.delete(place)
    }
    const place = { worker: startWorker<Order, Answer>(options), key, orders: 0, since: 0, usedBefore: 0 }
    places.add(place)
    return place
  }

  function dismiss(place: Place<Order, Answer>): void {
    void place.worker.end().then(() => places.delete(place))
  }

  function rest(place: Place<Order, Answer>): void {
    resting.push(place)
    // Limits idle processes of many keys to the number of working ones.
    const oldest = resting.length > processes ? resting.shift() : undefined
    if (oldest) {
      clearTimeout(oldest.clock)
      dismiss(oldest)
    }
    place.clock = setTimeout(() => {
      resting.splice(resting.indexOf(place), 1)
      dismiss(place)
    }, longestRest).unref()
  }

  async function tryOnce(
    order: Order,
    milliseconds: number,
    callBack: CallBack | undefined,
    key: string,
  ): Promise<Answer> {
    const whose = isForOneKey ? key : ''
    if (growsAfter > 0 && restingFor(whose) === 0 && isOneAtWork(whose)) await hope(whose)
    const place = takePlace(whose)
    place.since = performance.now()
    place.usedBefore = place.worker.used() ?? 0
    atWork.add(place)
    try {
      const answer = await place.worker.ask(order, milliseconds, callBack)
      place.orders += 1
      atWork.delete(place)
      const used = (place.worker.used() ?? place.usedBefore) - place.usedBefore
      if (place.orders < mostOrders && staysFit(answer, used)) rest(place)
      else dismiss(place)
      return answer
    } catch (error) {
      atWork.delete(place)
      dismiss(place)
      throw error
    } finally {
      encourage(place.key)
    }
  }

  return {
    async run(order, milliseconds, callBack, key = '') {
      await enter(key)
      try {
        for (let tries = 1; ; tries += 1) {
          if (closed) throw closedFault()
          try {
            return await tryOnce(order, milliseconds, callBack, key)
          } catch (error) {
            if (tries >= mostTries || !(error instanceof WorkerFault)) throw error
          }
        }
      } finally {
        leave(key)
      }
    },
    async close() {
      closed = true
      clearTimeout(displacing)
      for (const { turn } of queue.splice(0)) turn.reject(closedFault())
      await Promise.all([...places].map(({ worker, clock }) => (clearTimeout(clock), worker.end())))
    },
  }
}

const closedFault = () => new WorkerFault('closed', 'the processes are ended: nothing more is begun')
