// Reads conditions, warnings, and logs from the namespace of a failed install test before clean-up deletes them.
import {
  getListAt,
  getNumberAt,
  getStringAt,
  type KubeObject,
  type KubeQuery,
} from '../../checks/install/cluster-test/kube-object.ts'
import { isDeploymentAvailable } from '../../checks/install/cluster-test/classify-pods.ts'
import { olmApiVersion, olmV1ApiVersion } from '../../checks/install/cluster-test/cluster-test-objects.ts'
import {
  toClusterScopedName,
  toNamespaceName,
  clusterTestLabelKey,
  type ClusterTestPlan,
} from '../../checks/install/cluster-test/cluster-test-plan.ts'
import {
  collectConditionEvidence,
  collectEventEvidence,
  clusterTestEvidenceLimits,
  createLogEvidence,
  truncateEvidence,
  type ClusterTestEvidence,
} from '../../checks/install/cluster-test/cluster-test-report.ts'
import type { Cluster } from './cluster.ts'

export async function readClusterTestEvidence(
  cluster: Cluster,
  plan: ClusterTestPlan,
): Promise<readonly ClusterTestEvidence[]> {
  const namespace = toNamespaceName(plan)
  const inside = (apiVersion: string, kind: string): KubeQuery => ({ apiVersion, kind, namespace })
  const readObjects = async (query: KubeQuery): Promise<readonly KubeObject[]> => {
    const sighting = await cluster.read(query)
    return sighting.kind === 'found' ? sighting.objects : []
  }
  const objects: KubeObject[] = []
  for (const query of [
    inside(olmApiVersion, 'Subscription'),
    inside(olmApiVersion, 'InstallPlan'),
    inside(olmApiVersion, 'ClusterServiceVersion'),
    inside(olmApiVersion, 'CatalogSource'),
    { apiVersion: olmV1ApiVersion, kind: 'ClusterExtension', name: toClusterScopedName(plan) },
    { apiVersion: olmV1ApiVersion, kind: 'ClusterCatalog', labels: `${clusterTestLabelKey}=${plan.id}` },
    ...['core.rukpak.io/v1alpha2', 'core.rukpak.io/v1alpha1'].map((apiVersion) => ({
      apiVersion,
      kind: 'BundleDeployment',
      name: toClusterScopedName(plan),
    })),
    inside('batch/v1', 'Job'),
  ])
    objects.push(...(await readObjects(query)))
  const deployments = await readObjects(inside('apps/v1', 'Deployment'))
  objects.push(...deployments.filter((one) => !isDeploymentAvailable(one)))
  const events = collectEventEvidence(await readObjects(inside('v1', 'Event')))
  const logs = await readContainerLogs(cluster, namespace, await readObjects(inside('v1', 'Pod')))
  return truncateEvidence([...collectConditionEvidence(objects), ...events, ...logs])
}

/** Reads the logs only of containers that restarted or exited with an error. */
async function readContainerLogs(
  cluster: Cluster,
  namespace: string,
  pods: readonly KubeObject[],
): Promise<readonly ClusterTestEvidence[]> {
  const found: ClusterTestEvidence[] = []
  for (const pod of pods) {
    for (const container of [
      ...getListAt(pod.status, 'initContainerStatuses'),
      ...getListAt(pod.status, 'containerStatuses'),
    ]) {
      if (found.length >= clusterTestEvidenceLimits.pods) return found
      const restarts = getNumberAt(container, 'restartCount')
      const hasFailed = restarts > 0 || getNumberAt(container, 'state', 'terminated', 'exitCode') !== 0
      if (!hasFailed) continue
      const name = getStringAt(container, 'name')
      const at = { namespace, pod: pod.metadata.name, container: name }
      const text =
        (await cluster.log({ ...at, previous: restarts > 0 })) ||
        (await cluster.log({ ...at, previous: false }))
      if (text.trim() !== '')
        found.push(createLogEvidence(`Last log lines of pod ${pod.metadata.name}, container ${name}`, text))
    }
  }
  return found
}
