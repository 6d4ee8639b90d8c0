// For tests in which no bundle is released: every request rejects with an error.
import type { ReleaseWorkerPool } from '../../src/release/worker/release-pool.ts'

export const rejectingReleaseWorkerPool: ReleaseWorkerPool = {
  computeRelease: () => Promise.reject(new Error('nothing is released here')),
  close: () => Promise.resolve(),
}
