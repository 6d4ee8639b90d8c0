// For tests in which nothing runs on a cluster: every order rejects with an error.
import type { ClusterTestClient } from '../../../src/cluster-test/process/cluster-test-client.ts'

export const rejectingClusterTestClient: ClusterTestClient = {
  order: () => Promise.reject(new Error('nothing is tried here')),
  withServedCatalog: () => Promise.reject(new Error('nothing is served here')),
  close: () => Promise.resolve(),
}
