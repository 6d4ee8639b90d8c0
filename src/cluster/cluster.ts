// A cluster as trials need it: looks and actions, each within a bounded time and of a bounded size. Nothing is watched: what a
// trial waits for is asked again every other second, which survives a restart of the API and needs no state.
import type { Action, Look, RefusedAction, Sighting } from '../checks/install/trial/kube-object.ts'
import type { Discovered } from '../checks/install/trial/try-on-cluster.ts'

export interface Cluster {
  /** Rejects with a ClusterError. */
  discover(): Promise<Discovered>
  look(look: Look): Promise<Sighting>
  /** Undefined when it was done; what the API refused, or did not answer, is a value. */
  act(action: Action): Promise<RefusedAction | undefined>
  /** The end of a container's log; '' where there is none. */
  log(at: {
    readonly namespace: string
    readonly pod: string
    readonly container: string
    readonly previous: boolean
  }): Promise<string>
  close(): Promise<void>
}
