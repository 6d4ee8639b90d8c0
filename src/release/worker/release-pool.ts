// Runs release work in a process, one at a time: releases aren't urgent, and each may need several large catalogs.
import { extname } from 'node:path'
import { WorkerFault } from '../../adapters/workers/start-worker.ts'
import { createWorkerPool } from '../../adapters/workers/worker-pool.ts'
import type { EvaluationLimits } from '../../catalogs/reader-pool.ts'
import type { ReleaseResponse, ReleaseRequest } from './release-messages.ts'

export interface ReleaseWorkerPool {
  /** Rejects when the process failed, or when the queue is full. */
  computeRelease(order: ReleaseRequest): Promise<ReleaseResponse>
  close(): Promise<void>
}

/** Milliseconds that an idle process waits for another order. */
const maxReleaseWorkerIdleMs = 60_000
const maxQueuedReleaseRequests = 100
/** Restarts the process to bound leaks. */
const maxRequestsPerReleaseWorker = 50

export function createReleaseWorkerPool({ memory, time }: EvaluationLimits): ReleaseWorkerPool {
  const pool = createWorkerPool<ReleaseRequest, ReleaseResponse>({
    script: new URL(`./release-process${extname(import.meta.url)}`, import.meta.url),
    hasChildren: true,
    processes: 1,
    isForOneKey: true,
    maxWaiting: maxQueuedReleaseRequests,
    maxOrders: maxRequestsPerReleaseWorker,
    maxIdleMs: maxReleaseWorkerIdleMs,
    heap: memory,
    niceness: 10,
  })
  return {
    async computeRelease(order) {
      try {
        return await pool.run(order, time, undefined, order.mirror)
      } catch (error) {
        if (!(error instanceof WorkerFault)) throw error
        if (error.code === 'too-slow') return { kind: 'refused', why: 'computing the release takes too long' }
        if (error.code === 'too-much-memory')
          return { kind: 'refused', why: 'computing the release takes too much memory' }
        throw error
      }
    },
    close: () => pool.close(),
  }
}
