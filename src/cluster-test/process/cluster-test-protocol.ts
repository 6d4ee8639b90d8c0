// Messages to the process with the kubeconfigs. They name no cluster or account and contain no secrets.
import type { PlannedClusterTest } from '../../checks/install/cluster-test/cluster-test-plan.ts'
import type { ClusterTestReport } from '../../checks/install/cluster-test/cluster-test-report.ts'
import type { RequestingRepository } from '../../publish/process/push-targets.ts'

export type ClusterTestWorkerRequest =
  | (RequestingRepository & { readonly kind: 'prepare' })
  | (RequestingRepository & {
      readonly kind: 'try'
      readonly trial: PlannedClusterTest
      /** By the App's ports. If absent, install tests that need a catalog are skipped. */
      readonly catalogs?: { readonly head: number; readonly base?: number }
      readonly images?: ClusterTestCatalogImages
      /** Install tests of a dead process, removed first. */
      readonly abandoned: readonly string[]
    })

/** Images of the changed and previous catalog by digest, or why there are none. */
export type ClusterTestCatalogImages =
  { readonly head: string; readonly base?: string } | { readonly why: string }

export type ClusterTestWorkerResponse =
  | {
      readonly kind: 'prepared'
      readonly slot: string
      readonly servesCatalogs: boolean
      readonly ports?: readonly [head: number, base: number]
    }
  | { readonly kind: 'tried'; readonly report: ClusterTestReport }
  | { readonly kind: 'not-tried'; readonly why: string }
  /** No cluster is configured for this repository. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Sent before an install test creates objects: the names of these objects, and what the test waits for. */
export interface ClusterTestProgress {
  readonly kind: 'news'
  readonly id?: string
  readonly says: string
}
export type ClusterTestProgressResponse = 'go' | 'stop'
