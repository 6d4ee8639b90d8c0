// Runs release work in a process, one at a time: releases aren't urgent, and each may need several large catalogs.
import { extname } from 'node:path'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import type { LookBudget } from '../looks/look-budget.ts'
import type { ReleaseAnswer, ReleaseOrder } from './release-order.ts'

export interface ReleasePool {
  /** Rejects when the process failed, or when the queue is full. */
  workOut(order: ReleaseOrder): Promise<ReleaseAnswer>
  close(): Promise<void>
}

/** Milliseconds that an idle process waits for another order. */
const longestRest = 60_000
const mostWaiting = 100
/** Restarts the process to bound leaks. */
const mostOrders = 50

export function openReleasePool({ memory, time }: LookBudget): ReleasePool {
  const pool = openWorkerPool<ReleaseOrder, ReleaseAnswer>({
    script: new URL(`./release-process${extname(import.meta.url)}`, import.meta.url),
    hasChildren: true,
    processes: 1,
    isForOneKey: true,
    mostWaiting,
    mostOrders,
    longestRest,
    heap: memory,
    niceness: 10,
  })
  return {
    async workOut(order) {
      try {
        return await pool.run(order, time, undefined, order.mirror)
      } catch (error) {
        if (!(error instanceof WorkerFault)) throw error
        if (error.code === 'too-slow') return { kind: 'refused', why: 'to work it out takes too long' }
        if (error.code === 'too-much-memory')
          return { kind: 'refused', why: 'to work it out takes too much memory' }
        throw error
      }
    },
    close: () => pool.close(),
  }
}
