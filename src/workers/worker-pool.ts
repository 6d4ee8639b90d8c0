// Orders to processes of which there are never more than so many: the others wait in turn, and are refused where too many
// wait already. Whatever goes wrong in a process ends it; the next order gets another one.
import type { CallBack } from './answer-orders.ts'
import { startWorker, type Worker, type WorkerKind } from './start-worker.ts'
import { WorkerFault } from './worker-fault.ts'

export interface WorkerPool<Order, Answer> {
  /**
   * Rejects with a WorkerFault; `milliseconds` count from the moment when a process takes the order. Nothing else is done
   * in that process meanwhile: what is wrong there comes of this order. `callBack` answers what the process asks; the
   * clock stands still meanwhile. Of orders that wait, one goes first whose `key` has none under way.
   */
  run(order: Order, milliseconds: number, callBack?: CallBack, key?: string): Promise<Answer>
  /** Ends all processes; what waits is rejected as `closed`. Resolves when they are gone. */
  close(): Promise<void>
}

export interface WorkerPoolOptions<Answer> extends WorkerKind {
  /** At once. They are started when there is work for them. */
  readonly processes: number
  /** Orders that may wait for a process: each of them lies in our memory. */
  readonly mostWaiting: number
  /** Orders after which a process is ended all the same: nothing that one left behind stays for long. */
  readonly mostOrders?: number
  /** Milliseconds that a process waits for another order. */
  readonly longestRest: number
  /** A process works for orders of one key alone: nothing that one left behind is there for those of another. */
  readonly isForOneKey?: boolean
  /** Whether a process may take another order after this answer, for which it used so much of the processor. */
  readonly staysFit?: (answer: Answer, milliseconds: number) => boolean
  /**
   * Milliseconds that an order waits for a process that is there, before another one is started: a start costs more of the
   * processor than most orders. Default: it does not wait.
   */
  readonly growsAfter?: number
  /** Times that an order is tried, each in a new process: a machine may have been busy with something else. */
  readonly mostTries?: number
  /**
   * Milliseconds of the processor after which an order's process is ended as `displaced` when another order waits; or four
   * times as many of the clock, also where it only waits for others. Absent: never.
   */
  readonly displacedAfter?: number
}

interface Place<Order, Answer> {
  /** Whom it works for, where processes are kept apart. */
  readonly key: string
  readonly worker: Worker<Order, Answer>
  orders: number
  /** When it took the order that it works on. */
  since: number
  /** What its process had used of the processor then. */
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
  /** The last that worked is the first to work again, so that the others may end. */
  const resting: Place<Order, Answer>[] = []
  const atWork = new Set<Place<Order, Answer>>()
  /** Orders that wait for a process of their key, in turn. */
  const hoping = new Set<{ readonly key: string; readonly over: () => void }>()
  const queue: { readonly turn: PromiseWithResolvers<void>; readonly key: string }[] = []
  /** Orders under way, by key. */
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

  /** Ends what has worked longest, as soon as it has worked long enough, while somebody waits. */
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

  /** Until a process of this key is free, or none is at work any more, or so long. */
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
    // Each free one is for the first; where there is none and none to hope for, they need their own.
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
    // Processes of many keys may rest: no more of them than work at once.
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
