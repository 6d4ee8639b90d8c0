// Runs release work in a process, one at a time: releases aren't urgent, and each may need several large catalogs.
import { findWorkerScript } from '../../adapters/workers/start-worker.ts'
import { WorkerPool } from '../../adapters/workers/worker-pool.ts'
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
  const pool = new WorkerPool<ReleaseRequest, ReleaseResponse>({
    script: findWorkerScript('release-process', import.meta.url),
    hasChildren: true,
    processes: 1,
    isForOneKey: true,
    maxWaiting: maxQueuedReleaseRequests,
    maxOrders: maxRequestsPerReleaseWorker,
    maxIdleMs: maxReleaseWorkerIdleMs,
    heap: memory,
    niceness: 10,
    onFault(fault) {
      if (fault.code === 'too-slow') return { kind: 'refused', why: 'computing the release takes too long' }
      if (fault.code === 'too-much-memory')
        return { kind: 'refused', why: 'computing the release takes too much memory' }
      throw fault
    },
  })
  return {
    computeRelease: (order) => pool.run(order, time, undefined, order.mirror),
    close: () => pool.close(),
  }
}
