// Distributes orders to a limited number of processes. Other orders wait, and are rejected if too many wait. A fault
// ends the process, and the next order gets a new one.
import type { ParentRequestSender } from './answer-orders.ts'
import { startWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from './start-worker.ts'
import { WorkerFault } from './worker-fault.ts'

export interface WorkerPool<Order, Answer> {
  /**
   * Rejects with a WorkerFault. `milliseconds` count from when a process takes the order, without the time in
   * `callBack`. A process runs one order at a time, so a fault is due to its order. Waiting orders whose `key` has none
   * running go first.
   */
  run(order: Order, milliseconds: number, callBack?: ParentRequestSender, key?: string): Promise<Answer>
  /** Ends all processes and resolves when they are gone. Rejects waiting orders as `closed`. */
  close(): Promise<void>
}

export interface WorkerPoolOptions<Answer> extends WorkerProcessOptions {
  /** The maximum at the same time. Processes start when needed. */
  readonly processes: number
  /** Orders that may wait; each takes memory in this process. */
  readonly maxWaiting: number
  /** Orders after which a process is replaced, which limits the lifetime of leftover state. */
  readonly maxOrders?: number
  /** Milliseconds after which an idle process ends. */
  readonly maxIdleMs: number
  /** Each process serves only one key, so that no leftover state reaches another key. */
  readonly isForOneKey?: boolean
  /** Whether a process may take another order after this answer and this CPU time. */
  readonly canReuse?: (answer: Answer, milliseconds: number) => boolean
  /**
   * Milliseconds that an order waits for a busy process before another starts, because starting costs more CPU time
   * than most orders. Default: it does not wait.
   */
  readonly growAfterMs?: number
  /** Attempts per order, each in a new process: the machine may have been busy. */
  readonly maxAttempts?: number
  /**
   * CPU milliseconds after which an order is ended as `displaced` if another order waits; or four times as many of wall
   * time. Absent: never.
   */
  readonly displaceAfterMs?: number
}

interface PooledWorker<Order, Answer> {
  /** The key it serves, if processes are kept apart. */
  readonly key: string
  readonly worker: WorkerProcess<Order, Answer>
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
    maxWaiting,
    maxOrders = Infinity,
    maxIdleMs,
    maxAttempts = 1,
    displaceAfterMs,
    isForOneKey = false,
    growAfterMs = 0,
    canReuse = () => true,
  } = options
  const workers = new Set<PooledWorker<Order, Answer>>()
  /** A stack: the last used process is reused first, so that the others can end. */
  const resting: PooledWorker<Order, Answer>[] = []
  const atWork = new Set<PooledWorker<Order, Answer>>()
  const hoping = new Set<{ readonly key: string; readonly over: () => void }>()
  const queue: { readonly turn: PromiseWithResolvers<void>; readonly key: string }[] = []
  const underWay = new Map<string, number>()
  let working = 0
  let closed = false
  let displacing: NodeJS.Timeout | undefined

  async function acquireSlot(key: string): Promise<void> {
    if (closed) throw createPoolClosedFault()
    if (working < processes) working += 1
    else {
      if (queue.length >= maxWaiting)
        throw new WorkerFault('crowded', `${maxWaiting} other tasks are already waiting`)
      const slot = Promise.withResolvers<void>()
      queue.push({ turn: slot, key })
      displace()
      await slot.promise
    }
    underWay.set(key, (underWay.get(key) ?? 0) + 1)
  }

  function releaseSlot(key: string): void {
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
    if (displaceAfterMs === undefined || displacing || queue.length === 0) return
    let oldestRunning: { place: PooledWorker<Order, Answer>; worked: number } | undefined
    for (const pooled of atWork) {
      const worked = measureWorkedMs(pooled)
      if (oldestRunning === undefined || worked > oldestRunning.worked)
        oldestRunning = { place: pooled, worked }
    }
    if (oldestRunning && oldestRunning.worked >= displaceAfterMs) {
      atWork.delete(oldestRunning.place)
      oldestRunning.place.worker.stop(new WorkerFault('displaced', 'other tasks were waiting'))
    }
    displacing = setTimeout(() => {
      displacing = undefined
      displace()
    }, 50).unref()
  }

  function measureWorkedMs({ worker, since, usedBefore }: PooledWorker<Order, Answer>): number {
    const passed = performance.now() - since
    const used = worker.used()
    return used === undefined ? passed : Math.max(used - usedBefore, passed / 4)
  }

  /** Waits until a process of this key is free, none is working, or the time is over. */
  async function waitForIdleWorker(key: string): Promise<void> {
    const over = Promise.withResolvers<void>()
    const one = { key, over: over.resolve }
    hoping.add(one)
    const clock = setTimeout(over.resolve, growAfterMs)
    await over.promise
    clearTimeout(clock)
    hoping.delete(one)
    if (closed) throw createPoolClosedFault()
  }

  const countIdle = (key: string) => resting.filter((pooled) => pooled.key === key).length
  const isAnyBusy = (key: string) => [...atWork].some((pooled) => pooled.key === key)

  function wakeWaiting(key: string): void {
    const those = [...hoping].filter((one) => one.key === key)
    // Each free process goes to the first order; without any, the orders need new ones.
    const free = countIdle(key)
    for (const { over } of free > 0 || isAnyBusy(key) ? those.slice(0, free) : those) over()
  }

  function acquireWorker(key: string): PooledWorker<Order, Answer> {
    for (;;) {
      const at = resting.findLastIndex((pooled) => pooled.key === key)
      const [pooled] = at < 0 ? [] : resting.splice(at, 1)
      if (!pooled) break
      clearTimeout(pooled.clock)
      if (!pooled.worker.isGone) return pooled
      workers.delete(pooled)
    }
    const pooled = {
      worker: startWorkerProcess<Order, Answer>(options),
      key,
      orders: 0,
      since: 0,
      usedBefore: 0,
    }
    workers.add(pooled)
    return pooled
  }

  function endWorker(pooled: PooledWorker<Order, Answer>): void {
    void pooled.worker.end().then(() => workers.delete(pooled))
  }

  function keepIdle(pooled: PooledWorker<Order, Answer>): void {
    resting.push(pooled)
    // Limits idle processes of many keys to the number of working ones.
    const oldest = resting.length > processes ? resting.shift() : undefined
    if (oldest) {
      clearTimeout(oldest.clock)
      endWorker(oldest)
    }
    pooled.clock = setTimeout(() => {
      resting.splice(resting.indexOf(pooled), 1)
      endWorker(pooled)
    }, maxIdleMs).unref()
  }

  async function tryOnce(
    order: Order,
    milliseconds: number,
    callBack: ParentRequestSender | undefined,
    key: string,
  ): Promise<Answer> {
    const poolKey = isForOneKey ? key : ''
    if (growAfterMs > 0 && countIdle(poolKey) === 0 && isAnyBusy(poolKey)) await waitForIdleWorker(poolKey)
    const pooled = acquireWorker(poolKey)
    pooled.since = performance.now()
    pooled.usedBefore = pooled.worker.used() ?? 0
    atWork.add(pooled)
    try {
      const answer = await pooled.worker.execute(order, milliseconds, callBack)
      pooled.orders += 1
      atWork.delete(pooled)
      const used = (pooled.worker.used() ?? pooled.usedBefore) - pooled.usedBefore
      if (pooled.orders < maxOrders && canReuse(answer, used)) keepIdle(pooled)
      else endWorker(pooled)
      return answer
    } catch (error) {
      atWork.delete(pooled)
      endWorker(pooled)
      throw error
    } finally {
      wakeWaiting(pooled.key)
    }
  }

  return {
    async run(order, milliseconds, callBack, key = '') {
      await acquireSlot(key)
      try {
        for (let tries = 1; ; tries += 1) {
          if (closed) throw createPoolClosedFault()
          try {
            return await tryOnce(order, milliseconds, callBack, key)
          } catch (error) {
            if (tries >= maxAttempts || !(error instanceof WorkerFault)) throw error
          }
        }
      } finally {
        releaseSlot(key)
      }
    },
    async close() {
      closed = true
      clearTimeout(displacing)
      for (const { turn } of queue.splice(0)) turn.reject(createPoolClosedFault())
      await Promise.all([...workers].map(({ worker, clock }) => (clearTimeout(clock), worker.end())))
    },
  }
}

const createPoolClosedFault = () =>
  new WorkerFault('closed', 'the worker pool is closed and does not accept any more work')
