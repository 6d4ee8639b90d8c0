// Reads conditions, warnings and logs from a failed trial's own namespace before clean-up deletes them.
import { listAt, numberAt, textAt, type KubeObject, type Look } from '../checks/install/trial/kube-object.ts'
import { isAvailable } from '../checks/install/trial/judge-pods.ts'
import { olm, olmV1 } from '../checks/install/trial/trial-objects.ts'
import { clusterNameOf, namespaceOf, trialLabel, type TrialPlan } from '../checks/install/trial/trial-plan.ts'
import {
  conditionEvidence,
  eventEvidence,
  evidenceLimits,
  logEvidence,
  withinLimit,
  type Evidence,
} from '../checks/install/trial/trial-report.ts'
import type { Cluster } from './cluster.ts'

export async function gatherEvidence(cluster: Cluster, plan: TrialPlan): Promise<readonly Evidence[]> {
  const namespace = namespaceOf(plan)
  const inside = (apiVersion: string, kind: string): Look => ({ apiVersion, kind, namespace })
  const see = async (look: Look): Promise<readonly KubeObject[]> => {
    const sighting = await cluster.look(look)
    return sighting.kind === 'found' ? sighting.objects : []
  }
  const told: KubeObject[] = []
  for (const look of [
    inside(olm, 'Subscription'),
    inside(olm, 'InstallPlan'),
    inside(olm, 'ClusterServiceVersion'),
    inside(olm, 'CatalogSource'),
    { apiVersion: olmV1, kind: 'ClusterExtension', name: clusterNameOf(plan) },
    { apiVersion: olmV1, kind: 'ClusterCatalog', labels: `${trialLabel}=${plan.id}` },
    ...['core.rukpak.io/v1alpha2', 'core.rukpak.io/v1alpha1'].map((apiVersion) => ({
      apiVersion,
      kind: 'BundleDeployment',
      name: clusterNameOf(plan),
    })),
    inside('batch/v1', 'Job'),
  ])
    told.push(...(await see(look)))
  const deployments = await see(inside('apps/v1', 'Deployment'))
  told.push(...deployments.filter((one) => !isAvailable(one)))
  const events = eventEvidence(await see(inside('v1', 'Event')))
  const logs = await logsOf(cluster, namespace, await see(inside('v1', 'Pod')))
  return withinLimit([...conditionEvidence(told), ...events, ...logs])
}

/** Only containers that restarted or are not running. */
async function logsOf(
  cluster: Cluster,
  namespace: string,
  pods: readonly KubeObject[],
): Promise<readonly Evidence[]> {
  const found: Evidence[] = []
  for (const pod of pods) {
    for (const container of [
      ...listAt(pod.status, 'initContainerStatuses'),
      ...listAt(pod.status, 'containerStatuses'),
    ]) {
      if (found.length >= evidenceLimits.pods) return found
      const restarts = numberAt(container, 'restartCount')
      const hasFailed = restarts > 0 || numberAt(container, 'state', 'terminated', 'exitCode') !== 0
      if (!hasFailed) continue
      const name = textAt(container, 'name')
      const at = { namespace, pod: pod.metadata.name, container: name }
      const text =
        (await cluster.log({ ...at, previous: restarts > 0 })) ||
        (await cluster.log({ ...at, previous: false }))
      if (text.trim() !== '')
        found.push(logEvidence(`The end of the log of ${pod.metadata.name}, container ${name}`, text))
    }
  }
  return found
}
