// Deletes the objects of install tests that were killed. Finds them only by the test label and the expiry time.
import {
  abandonedClusterTestQueries,
  findExpiredClusterTestIds,
} from '../../checks/install/cluster-test/clean-up.ts'
import { cleanUpClusterTest, readClusterObjects, type ClusterTestOptions } from './run-cluster-test.ts'

export interface ExpiredTestSweepResult {
  readonly id: string
  readonly leftovers: readonly string[]
}

/** `alive`: ids of running install tests, whose objects are kept even after they expire. */
export async function sweepExpiredClusterTests(
  options: ClusterTestOptions,
  alive: ReadonlySet<string> = new Set(),
): Promise<readonly ExpiredTestSweepResult[]> {
  const seen = await readClusterObjects(options.cluster, abandonedClusterTestQueries, [])
  const swept: ExpiredTestSweepResult[] = []
  for (const id of findExpiredClusterTestIds(seen, options.clock.now())) {
    if (alive.has(id)) continue
    const { leftovers } = await cleanUpClusterTest(id, options)
    swept.push({ id, leftovers })
  }
  return swept
}
