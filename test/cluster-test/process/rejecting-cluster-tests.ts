// For tests in which nothing is tried on a cluster: whoever tries is told so.
import type { ClusterTestClient } from '../../../src/cluster-test/process/cluster-test-client.ts'

export const rejectingClusterTests: ClusterTestClient = {
  isAllowed: false,
  order: () => Promise.reject(new Error('nothing is tried here')),
  withServedCatalog: () => Promise.reject(new Error('nothing is served here')),
  close: () => Promise.resolve(),
}
