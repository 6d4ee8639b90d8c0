// Distributes orders to a limited number of processes. Other orders wait, and are rejected if too many wait. A fault
// ends the process, and the next order gets a new one.
import type { ParentProcessRequestSender } from './answer-orders.ts'
import { WorkerProcess, type WorkerProcessOptions, WorkerFault } from './start-worker.ts'

/** One kind of worker: its script, its limits, and what a fault means. */
export interface WorkerPoolOptions<Answer, Order = never> extends WorkerProcessOptions {
  /** The maximum at the same time. Processes start when needed. */
  readonly processes: number
  /** Orders that may wait; each takes memory in this process. */
  readonly maxWaiting: number
  /** Orders after which a process is replaced, which limits the lifetime of leftover state. */
  readonly maxOrders?: number
  /** Milliseconds after which an idle process ends. */
  readonly maxIdleMs: number
  /** Each process serves only one key, so that no leftover state reaches another key. */
  readonly isPartitionedByKey?: boolean
  /** Whether a process may take another order after this answer and this CPU time. */
  readonly canReuse?: (answer: Answer, milliseconds: number) => boolean
  /** Answers for an order that ended with a fault after its last attempt, or throws. Default: throws the fault. */
  readonly onFault?: (fault: WorkerFault, order: Order) => Answer
  /**
   * Milliseconds that an order waits for a busy process before another starts, because starting costs more CPU time
   * than most orders. Default: it does not wait.
   */
  readonly growAfterMs?: number
  /** Attempts per order, each in a new process: the machine may have been busy. */
  readonly maxAttempts?: number
  /**
   * CPU milliseconds after which an order is ended as `displaced` if another order waits; or four times as many of wall
   * time, and more on an overloaded machine. Time in `callBack` counts, because otherwise an order that waits for a slow
   * registry would keep others from its process. Absent: never.
   */
  readonly displaceAfterMs?: number
}

interface PooledWorker<Order, Answer> {
  /** The key that it serves, if each process serves only one key. */
  readonly key: string
  readonly worker: WorkerProcess<Order, Answer>
  orders: number
  /** When it took its current order. */
  since: number
  /** CPU time of the process at that moment. */
  usedBefore: number
  clock?: NodeJS.Timeout
}

export class WorkerPool<Order, Answer> {
  readonly #options: WorkerPoolOptions<Answer, Order>
  readonly #growAfterMs
  readonly #workers = new Set<PooledWorker<Order, Answer>>()
  /** A stack: the last used process is reused first, so that the others can end. */
  readonly #idleWorkers: PooledWorker<Order, Answer>[] = []
  readonly #busyWorkers = new Set<PooledWorker<Order, Answer>>()
  readonly #idleWaiters = new Set<{ readonly key: string; readonly wake: () => void }>()
  readonly #queue: { readonly slot: PromiseWithResolvers<void>; readonly key: string }[] = []
  readonly #runningByKey = new Map<string, number>()
  #usedSlots = 0
  #closed = false
  #displacing: NodeJS.Timeout | undefined

  constructor(options: WorkerPoolOptions<Answer, Order>) {
    this.#options = options
    this.#growAfterMs = options.growAfterMs ?? 0
  }

  /**
   * Rejects with a WorkerFault. `milliseconds` count from when a process takes the order, without the time in
   * `callBack`. A process runs one order at a time, so a fault is due to its order. Waiting orders whose `key` has none
   * running go first, and then urgent ones.
   */
  async run(
    order: Order,
    milliseconds: number,
    callBack?: ParentProcessRequestSender,
    key = '',
    isUrgent = false,
  ): Promise<Answer> {
    try {
      await this.#acquireSlot(key, isUrgent)
      return await this.#runInSlot(order, milliseconds, callBack, key)
    } catch (error) {
      if (!(error instanceof WorkerFault) || !this.#options.onFault) throw error
      return this.#options.onFault(error, order)
    }
  }

  async #runInSlot(
    order: Order,
    milliseconds: number,
    callBack: ParentProcessRequestSender | undefined,
    key: string,
  ): Promise<Answer> {
    try {
      for (let attempt = 1; ; attempt += 1) {
        if (this.#closed) throw createWorkerPoolClosedFault()
        try {
          return await this.#runAttempt(order, milliseconds, callBack, key)
        } catch (error) {
          if (attempt >= (this.#options.maxAttempts ?? 1) || !(error instanceof WorkerFault)) throw error
        }
      }
    } finally {
      this.#releaseSlot(key)
    }
  }

  /** Starts a process for this key if none exists and there is capacity, so that its next order need not wait. */
  prepare(key: string): void {
    if (this.#closed || this.#usedSlots + this.#idleWorkers.length >= this.#options.processes) return
    if ([...this.#workers].every((pooled) => pooled.key !== key)) this.#keepIdle(this.#acquireWorker(key))
  }

  /** Ends all processes and resolves when they are gone. Rejects waiting orders as `closed`. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#displacing)
    for (const { slot } of this.#queue.splice(0)) slot.reject(createWorkerPoolClosedFault())
    await Promise.all([...this.#workers].map(({ worker, clock }) => (clearTimeout(clock), worker.end())))
  }

  async #acquireSlot(key: string, isUrgent: boolean): Promise<void> {
    if (this.#closed) throw createWorkerPoolClosedFault()
    const { processes, maxWaiting } = this.#options
    if (this.#usedSlots < processes) this.#usedSlots += 1
    else {
      if (this.#queue.length >= maxWaiting)
        throw new WorkerFault('crowded', `${maxWaiting} other tasks are already waiting`)
      const slot = Promise.withResolvers<void>()
      const waiting = { slot, key }
      if (isUrgent) this.#queue.unshift(waiting)
      else this.#queue.push(waiting)
      this.#displace()
      await slot.promise
    }
    this.#runningByKey.set(key, (this.#runningByKey.get(key) ?? 0) + 1)
  }

  #releaseSlot(key: string): void {
    const others = (this.#runningByKey.get(key) ?? 1) - 1
    if (others > 0) this.#runningByKey.set(key, others)
    else this.#runningByKey.delete(key)
    const fair = this.#queue.findIndex((waiting) => !this.#runningByKey.has(waiting.key))
    const [next] = this.#queue.splice(Math.max(fair, 0), 1)
    if (next) next.slot.resolve()
    else this.#usedSlots -= 1
  }

  /** While orders wait, ends the longest-running order once it has had its time. */
  #displace(): void {
    const { displaceAfterMs } = this.#options
    if (displaceAfterMs === undefined || this.#displacing || this.#queue.length === 0) return
    let oldestRunning: { pooled: PooledWorker<Order, Answer>; worked: number } | undefined
    for (const pooled of this.#busyWorkers) {
      const worked = this.#measureWorkedMs(pooled)
      if (oldestRunning === undefined || worked > oldestRunning.worked) oldestRunning = { pooled, worked }
    }
    if (oldestRunning && oldestRunning.worked >= displaceAfterMs) {
      this.#busyWorkers.delete(oldestRunning.pooled)
      oldestRunning.pooled.worker.stop(new WorkerFault('displaced', 'other tasks were waiting'))
    }
    this.#displacing = setTimeout(() => {
      this.#displacing = undefined
      this.#displace()
    }, 50).unref()
  }

  #measureWorkedMs({ worker, since, usedBefore }: PooledWorker<Order, Answer>): number {
    const passed = (performance.now() - since) / worker.slowdown()
    const used = worker.used()
    return used === undefined ? passed : Math.max(used - usedBefore, passed / 4)
  }

  /** Waits until a process of this key is free, none is working, or the time has passed. */
  async #waitForIdleWorker(key: string): Promise<void> {
    const woken = Promise.withResolvers<void>()
    const waiter = { key, wake: woken.resolve }
    this.#idleWaiters.add(waiter)
    const clock = setTimeout(woken.resolve, this.#growAfterMs)
    await woken.promise
    clearTimeout(clock)
    this.#idleWaiters.delete(waiter)
    if (this.#closed) throw createWorkerPoolClosedFault()
  }

  #countIdle(key: string) {
    return this.#idleWorkers.filter((pooled) => pooled.key === key).length
  }

  #isAnyBusy(key: string) {
    return [...this.#busyWorkers].some((pooled) => pooled.key === key)
  }

  #wakeWaiting(key: string): void {
    const waiters = [...this.#idleWaiters].filter((waiter) => waiter.key === key)
    // Each free process receives the first order. If no process is free, the orders need new processes.
    const free = this.#countIdle(key)
    for (const { wake } of free > 0 || this.#isAnyBusy(key) ? waiters.slice(0, free) : waiters) wake()
  }

  #acquireWorker(key: string): PooledWorker<Order, Answer> {
    for (;;) {
      const at = this.#idleWorkers.findLastIndex((pooled) => pooled.key === key)
      const [pooled] = at < 0 ? [] : this.#idleWorkers.splice(at, 1)
      if (!pooled) break
      clearTimeout(pooled.clock)
      if (!pooled.worker.isGone) return pooled
      this.#workers.delete(pooled)
    }
    const pooled = {
      worker: new WorkerProcess<Order, Answer>(this.#options),
      key,
      orders: 0,
      since: 0,
      usedBefore: 0,
    }
    this.#workers.add(pooled)
    return pooled
  }

  #endWorker(pooled: PooledWorker<Order, Answer>): void {
    void pooled.worker.end().then(() => this.#workers.delete(pooled))
  }

  #keepIdle(pooled: PooledWorker<Order, Answer>): void {
    this.#idleWorkers.push(pooled)
    // Limits idle processes of many keys to the number of working ones.
    const oldest = this.#idleWorkers.length > this.#options.processes ? this.#idleWorkers.shift() : undefined
    if (oldest) {
      clearTimeout(oldest.clock)
      this.#endWorker(oldest)
    }
    pooled.clock = setTimeout(() => {
      this.#idleWorkers.splice(this.#idleWorkers.indexOf(pooled), 1)
      this.#endWorker(pooled)
    }, this.#options.maxIdleMs).unref()
  }

  async #runAttempt(
    order: Order,
    milliseconds: number,
    callBack: ParentProcessRequestSender | undefined,
    key: string,
  ): Promise<Answer> {
    const poolKey = this.#options.isPartitionedByKey ? key : ''
    if (this.#growAfterMs > 0 && this.#countIdle(poolKey) === 0 && this.#isAnyBusy(poolKey))
      await this.#waitForIdleWorker(poolKey)
    const pooled = this.#acquireWorker(poolKey)
    pooled.since = performance.now()
    pooled.usedBefore = pooled.worker.used() ?? 0
    this.#busyWorkers.add(pooled)
    try {
      const answer = await pooled.worker.execute(order, milliseconds, callBack)
      pooled.orders += 1
      this.#busyWorkers.delete(pooled)
      const used = (pooled.worker.used() ?? pooled.usedBefore) - pooled.usedBefore
      const { maxOrders = Infinity, canReuse } = this.#options
      if (pooled.orders < maxOrders && canReuse?.(answer, used) !== false) this.#keepIdle(pooled)
      else this.#endWorker(pooled)
      return answer
    } catch (error) {
      this.#busyWorkers.delete(pooled)
      this.#endWorker(pooled)
      throw error
    } finally {
      this.#wakeWaiting(pooled.key)
    }
  }
}

const createWorkerPoolClosedFault = () =>
  new WorkerFault('closed', 'the worker pool is closed and does not accept any more tasks')
