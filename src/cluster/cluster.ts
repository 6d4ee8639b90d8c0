// A cluster as trials need it: bounded looks and actions. Trials poll instead of watching, because polling survives
// restarts of the API.
import type {
  ClusterAction,
  KubeQuery,
  RejectedAction,
  KubeQueryResult,
} from '../checks/install/cluster-test/kube-object.ts'
import type { DiscoveredApis } from '../checks/install/cluster-test/cluster-test-driver.ts'

export interface Cluster {
  /** @throws ClusterError */
  discover(): Promise<DiscoveredApis>
  read(look: KubeQuery): Promise<KubeQueryResult>
  /** Undefined on success; a refusal or a missing answer is a value. */
  perform(action: ClusterAction): Promise<RejectedAction | undefined>
  /** The end of the log; empty if there is none. */
  log(at: {
    readonly namespace: string
    readonly pod: string
    readonly container: string
    readonly previous: boolean
  }): Promise<string>
  close(): Promise<void>
}
