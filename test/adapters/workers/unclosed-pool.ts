// Runs a job and does not close its pool. This process must end anyway.
import { WorkerPool } from '../../../src/adapters/workers/worker-pool.ts'

const workerPool = new WorkerPool<unknown, number>({
  script: new URL('./test-worker.ts', import.meta.url),
  heap: 64,
  processes: 1,
  maxWaiting: 1,
  maxIdleMs: 60_000,
})
process.stdout.write(String(await workerPool.run({ kind: 'pid' }, 60_000)))
