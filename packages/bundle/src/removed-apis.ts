// APIs that Kubernetes removed, according to its deprecation guide, and their uses in a bundle.
import { compareVersions, parseVersion, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import type { FieldPath } from './bundle-locator.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from './fields.ts'
import type { RegistryBundle } from './registry-bundle.ts'

const removedApisByKubeVersion: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '1.22': {
    'apiextensions.k8s.io/v1beta1': ['CustomResourceDefinition'],
    'scheduling.k8s.io/v1alpha1': ['PriorityClass'],
    'scheduling.k8s.io/v1beta1': ['PriorityClass'],
    'rbac.authorization.k8s.io/v1alpha1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
    'rbac.authorization.k8s.io/v1beta1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
    'apiregistration.k8s.io/v1beta1': ['APIService'],
    'authentication.k8s.io/v1beta1': ['TokenReview'],
    'authorization.k8s.io/v1beta1': [
      'LocalSubjectAccessReview',
      'SelfSubjectAccessReview',
      'SubjectAccessReview',
    ],
    'admissionregistration.k8s.io/v1beta1': [
      'MutatingWebhookConfiguration',
      'ValidatingWebhookConfiguration',
    ],
    'coordination.k8s.io/v1beta1': ['Lease'],
    'extensions/v1beta1': ['Ingress'],
    'networking.k8s.io/v1beta1': ['Ingress', 'IngressClass'],
    'storage.k8s.io/v1beta1': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
    'certificates.k8s.io/v1beta1': ['CertificateSigningRequest'],
  },
  '1.25': {
    'batch/v1beta1': ['CronJob'],
    'discovery.k8s.io/v1beta1': ['EndpointSlice'],
    'events.k8s.io/v1beta1': ['Event'],
    'autoscaling/v2beta1': ['HorizontalPodAutoscaler'],
    'policy/v1beta1': ['PodDisruptionBudget', 'PodSecurityPolicy'],
    'node.k8s.io/v1beta1': ['RuntimeClass'],
  },
  '1.26': { 'autoscaling/v2beta2': ['HorizontalPodAutoscaler'] },
}

/** The first Kubernetes release without the API. */
export function findKubeVersionRemovingApi(apiVersion: string, kind: string): string | undefined {
  for (const [release, versions] of Object.entries(removedApisByKubeVersion))
    if (Object.hasOwn(versions, apiVersion) && versions[apiVersion]?.includes(kind)) return release
  return undefined
}

export interface RemovedApiUse {
  /** Defaults to the CSV's file. */
  readonly file?: string
  readonly path: FieldPath
  readonly data: { readonly api: string; readonly name: string; readonly release: string }
  /** Whether every Kubernetes version that the bundle supports lacks the API. */
  readonly isCertain: boolean
}

/** Uses in manifests, CRDs and requested permissions. */
export function* findRemovedApiUses({ csv, objects }: RegistryBundle): Generator<RemovedApiUse> {
  const needed = parseVersionTolerantly(
    asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'minKubeVersion')),
  )
  const isCertain = (release: string): boolean => {
    const removalVersion = parseVersion(`${release}.0`)
    return needed.ok && removalVersion.ok && compareVersions(needed.value, removalVersion.value) >= 0
  }
  for (const { file, name, apiVersion, kind } of objects) {
    const release = findKubeVersionRemovingApi(apiVersion, kind)
    if (release === undefined) continue
    const data = { api: `${apiVersion} ${kind}`, name, release }
    yield { file, path: ['apiVersion'], data, isCertain: isCertain(release) }
  }
  const mentioned = new Set<string>()
  for (const list of ['owned', 'required'])
    for (const [index, crd] of asListOrEmpty(
      getJsonFieldAtPath(csv.data, 'spec', 'customresourcedefinitions', list),
    ).entries())
      for (const [position, resource] of asListOrEmpty(getJsonFieldAtPath(crd, 'resources')).entries()) {
        const [apiVersion, kind] = [
          asStringOrEmpty(getJsonFieldAtPath(resource, 'version')),
          asStringOrEmpty(getJsonFieldAtPath(resource, 'kind')),
        ]
        mentioned.add(`${kind.toLowerCase()}s`)
        if (findKubeVersionRemovingApi(apiVersion, kind) !== '1.25') continue
        const path = ['spec', 'customresourcedefinitions', list, index, 'resources', position]
        const data = {
          api: `${apiVersion} ${kind}`,
          name: `a resource listed for ${asStringOrEmpty(getJsonFieldAtPath(crd, 'name'))}`,
          release: '1.25',
        }
        yield { path, data, isCertain: isCertain('1.25') }
      }
  if (mentioned.has('podsecuritypolicies')) return
  for (const list of ['clusterPermissions', 'permissions'])
    for (const [index, entry] of asListOrEmpty(
      getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', list),
    ).entries())
      for (const [position, rule] of asListOrEmpty(getJsonFieldAtPath(entry, 'rules')).entries()) {
        const ruleIncludes = (field: string, wanted: string) =>
          asListOrEmpty(getJsonFieldAtPath(rule, field)).includes(wanted)
        if (!ruleIncludes('apiGroups', 'policy') || !ruleIncludes('resources', 'podsecuritypolicies'))
          continue
        const data = {
          api: 'policy/v1beta1 PodSecurityPolicy',
          name: `a permission of the service account ${asStringOrEmpty(getJsonFieldAtPath(entry, 'serviceAccountName'))}`,
          release: '1.25',
        }
        yield { path: ['spec', 'install', 'spec', list, index, 'rules', position], data, isCertain: false }
      }
}
