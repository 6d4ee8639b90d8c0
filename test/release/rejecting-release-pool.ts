// For tests in which no bundle is released: whoever tries is told so.
import type { ReleasePool } from '../../src/release/worker/release-pool.ts'

export const rejectingReleasePool: ReleasePool = {
  computeRelease: () => Promise.reject(new Error('nothing is released here')),
  close: () => Promise.resolve(),
}
