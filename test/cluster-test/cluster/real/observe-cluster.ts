// Reads the state of the API server while our command runs, with the administrator's certificate and a client that
// shares no code with catalog-bot, so that a claim does not depend on the report of catalog-bot.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../control-plane/start-control-plane.ts'

export interface ObservedKubernetesObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

/** Extracts one line about each object of a kind, or undefined to skip it. */
export interface ClusterObjectObserver {
  readonly path: string
  readonly fact: (item: ObservedKubernetesObject) => string | undefined
}

/** Calls `run`, and returns each fact that was true of an object during the call, in order of first observation. */
export async function observeCluster<Result>(
  plane: Pick<ControlPlane, 'ask'>,
  observations: readonly ClusterObjectObserver[],
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly facts: readonly string[] }> {
  const facts = new Set<string>()
  let isRunning = true
  const watching = (async () => {
    while (isRunning) {
      for (const { path, fact } of observations) {
        const { body } = await plane.ask('GET', path)
        for (const item of (body['items'] ?? []) as readonly ObservedKubernetesObject[]) {
          const seenFact = fact(item)
          if (seenFact !== undefined) facts.add(seenFact)
        }
      }
      await sleep(300)
    }
  })()
  try {
    const result = await run()
    return { result, facts: [...facts] }
  } finally {
    isRunning = false
    await watching
  }
}

const isConditionTrue = (status: ObservedKubernetesObject['status'], type: string): boolean =>
  ((status?.['conditions'] ?? []) as readonly { readonly type: string; readonly status: string }[]).some(
    (one) => one.type === type && one.status === 'True',
  )

const getPodTemplateContainers = (
  spec: ObservedKubernetesObject['spec'],
): readonly { readonly image: string }[] =>
  (
    spec as
      | {
          readonly template?: {
            readonly spec?: { readonly containers?: readonly { readonly image: string }[] }
          }
        }
      | undefined
  )?.template?.spec?.containers ?? []

/** `Deployment runs registry.example/solo:solo.v1.0.0`. */
export const deploymentObserver: ClusterObjectObserver = {
  path: '/apis/apps/v1/deployments',
  fact: ({ spec, status }) =>
    isConditionTrue(status, 'Available') && Number(status?.['availableReplicas'] ?? 0) > 0
      ? `Deployment runs ${getPodTemplateContainers(spec)[0]?.image ?? ''}`
      : undefined,
}

/** `CRD reds.example.com is established`. */
export const crdObserver: ClusterObjectObserver = {
  path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  fact: ({ metadata: { name }, status }) =>
    isConditionTrue(status, 'Established') ? `CRD ${name} is established` : undefined,
}

/** `ClusterExtension has solo.v1.0.0 1.0.0`. */
export const clusterExtensionObserver: ClusterObjectObserver = {
  path: '/apis/olm.operatorframework.io/v1/clusterextensions',
  fact: ({ status }) => {
    const { bundle } = (status?.['install'] ?? {}) as { readonly bundle?: { name: string; version: string } }
    return bundle && isConditionTrue(status, 'Installed')
      ? `ClusterExtension has ${bundle.name} ${bundle.version}`
      : undefined
  },
}

/** `ClusterServiceVersion foo.v1.0.0 succeeded`. */
export const csvObserver: ClusterObjectObserver = {
  path: '/apis/operators.coreos.com/v1alpha1/clusterserviceversions',
  fact: ({ metadata: { name }, status }) =>
    status?.['phase'] === 'Succeeded' ? `ClusterServiceVersion ${name} succeeded` : undefined,
}

/** Which of the wanted facts were not seen. */
export function findMissingClusterObservations(
  facts: readonly string[],
  wanted: readonly string[],
): readonly string[] {
  return wanted.filter((one) => !facts.includes(one))
}
