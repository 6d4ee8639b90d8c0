// Deletes the objects of install tests that were killed. Finds them only by the test label and the expiry time.
import { abandonedTestQueries, findAbandonedTests } from '../../checks/install/cluster-test/clean-up.ts'
import { cleanUpClusterTest, readClusterObjects, type ClusterTestOptions } from './run-cluster-test.ts'

export interface ClusterSweepResult {
  readonly id: string
  readonly leftovers: readonly string[]
}

/** `alive`: ids of running install tests, whose objects are kept even after they expire. */
export async function sweepCluster(
  options: ClusterTestOptions,
  alive: ReadonlySet<string> = new Set(),
): Promise<readonly ClusterSweepResult[]> {
  const seen = await readClusterObjects(options.cluster, abandonedTestQueries, [])
  const swept: ClusterSweepResult[] = []
  for (const id of findAbandonedTests(seen, options.clock.now())) {
    if (alive.has(id)) continue
    const { leftovers } = await cleanUpClusterTest(id, options)
    swept.push({ id, leftovers })
  }
  return swept
}
