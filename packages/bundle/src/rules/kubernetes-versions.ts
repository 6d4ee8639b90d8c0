// Rules about Kubernetes versions, and the APIs that Kubernetes removed, according to its deprecation guide.
import { compareVersions, parseVersion, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import type { FieldPath } from '../manifest-document.ts'
import { getListAtPath, getStringAtPath, listEntriesAtPath } from '../fields.ts'
import type { RegistryBundle } from '../registry-bundle.ts'
import { defineBundleRule } from '../bundle-rule.ts'

export const apiNeverThereRule = defineBundleRule<{ api: string; name: string; release: string }>({
  id: 'api-never-there',
  severity: 'error',
  suite: 'deprecated-apis',
  title: "A bundle doesn't use APIs that its minimum Kubernetes version no longer serves",
  what: ({ api, name, release }) =>
    `${name} uses ${api}, which was removed in Kubernetes ${release}, but minKubeVersion is ${release} or later`,
  why: 'Every cluster that the bundle supports rejects objects of this API.',
  fix: 'Migrate to the replacement that the Kubernetes deprecation guide recommends.',
  *find(bundle) {
    for (const { isCertain, ...use } of findRemovedApiUsages(bundle)) if (isCertain) yield use
  },
})

export const removedApiRule = defineBundleRule<{ api: string; name: string; release: string }>({
  id: 'removed-api',
  severity: 'warning',
  suite: 'deprecated-apis',
  title: "Bundles don't use APIs that Kubernetes has removed",
  what: ({ api, name, release }) => `${name} uses ${api}, which was removed in Kubernetes ${release}`,
  why: 'Clusters that run a Kubernetes version without this API reject its objects.',
  fix: 'Migrate to the replacement that the Kubernetes deprecation guide recommends.',
  *find(bundle) {
    for (const { isCertain, ...use } of findRemovedApiUsages(bundle)) if (!isCertain) yield use
  },
})

export const noMaxOpenshiftVersionRule = defineBundleRule<{ apis: string }>({
  id: 'no-max-openshift-version',
  severity: 'warning',
  suite: 'community',
  title: 'Bundles that use removed APIs declare a maximum OpenShift version',
  what: ({ apis }) =>
    `the bundle uses ${apis} but does not limit itself to OpenShift versions earlier than 4.9`,
  why: 'Clusters can be upgraded to a version on which the Operator stops working.',
  fix: 'Set the olm.maxOpenShiftVersion property to a version earlier than 4.9, or migrate to newer APIs.',
  *find({ objects, derivedProperties }) {
    const removed = objects.filter(
      ({ apiVersion, kind }) => findApiRemovalKubeVersion(apiVersion, kind) === '1.22',
    )
    if (removed.length === 0) return
    const limit = derivedProperties.find(({ type }) => type === 'olm.maxOpenShiftVersion')?.value
    const [major = Infinity, minor = 0] = (
      typeof limit === 'string' || typeof limit === 'number' ? String(limit) : ''
    )
      .split('.')
      .map((part) => (part === '' ? Infinity : Number(part)))
    if (major < 4 || (major === 4 && minor < 9)) return
    const apis = [...new Set(removed.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))].join(', ')
    yield { file: removed[0]?.file ?? '', path: ['apiVersion'], data: { apis } }
  },
})

export const unparsableMinKubeVersionRule = defineBundleRule<{ version: string; isPrefixed: boolean }>({
  id: 'unparsable-min-kube-version',
  severity: 'error',
  title: 'minKubeVersion is a valid version',
  isWarning: ({ isPrefixed }) => isPrefixed,
  what: ({ version }) => `minKubeVersion is "${version}", which is not a valid version`,
  why: ({ isPrefixed }) =>
    isPrefixed
      ? '`opm alpha bundle validate` rejects the "v" prefix, although OLM ignores it.'
      : "OLM can't parse the version, so the requirement is never met.",
  fix: 'Use three numbers, such as 1.25.0.',
  *find({ csv }) {
    const version = getStringAtPath(csv.data, 'spec', 'minKubeVersion')
    if (version.trim() !== '' && !parseVersion(version).ok)
      yield {
        path: ['spec', 'minKubeVersion'],
        data: { version, isPrefixed: version.startsWith('v') && parseVersion(version.slice(1)).ok },
      }
  },
})

export const noMinKubeVersionRule = defineBundleRule<Record<never, never>>({
  id: 'no-min-kube-version',
  severity: 'info',
  suite: 'operatorhub',
  title: 'A bundle declares its minimum Kubernetes version',
  what: 'the bundle does not declare a minimum Kubernetes version',
  why: 'OLM installs the bundle even on clusters that are too old for it.',
  fix: 'Set spec.minKubeVersion to the oldest Kubernetes version that the Operator supports.',
  *find({ csv }) {
    if (getStringAtPath(csv.data, 'spec', 'minKubeVersion').trim() === '') yield { path: ['spec'], data: {} }
  },
})

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
function findApiRemovalKubeVersion(apiVersion: string, kind: string): string | undefined {
  for (const [release, versions] of Object.entries(removedApisByKubeVersion))
    if (Object.hasOwn(versions, apiVersion) && versions[apiVersion]?.includes(kind)) return release
  return undefined
}

export interface RemovedApiUsage {
  /** Defaults to the CSV's file. */
  readonly file?: string
  readonly path: FieldPath
  readonly data: { readonly api: string; readonly name: string; readonly release: string }
  /** Whether every Kubernetes version that the bundle supports lacks the API. */
  readonly isCertain: boolean
}

/** Uses in manifests, CRDs and requested permissions. */
function* findRemovedApiUsages({ csv, objects }: RegistryBundle): Generator<RemovedApiUsage> {
  const needed = parseVersionTolerantly(getStringAtPath(csv.data, 'spec', 'minKubeVersion'))
  const isCertain = (release: string): boolean => {
    const removalVersion = parseVersion(`${release}.0`)
    return needed.ok && removalVersion.ok && compareVersions(needed.value, removalVersion.value) >= 0
  }
  for (const { file, name, apiVersion, kind } of objects) {
    const release = findApiRemovalKubeVersion(apiVersion, kind)
    if (release === undefined) continue
    const data = { api: `${apiVersion} ${kind}`, name, release }
    yield { file, path: ['apiVersion'], data, isCertain: isCertain(release) }
  }
  const mentioned = new Set<string>()
  for (const list of ['owned', 'required'])
    for (const [path, crd] of listEntriesAtPath(csv.data, 'spec', 'customresourcedefinitions', list))
      for (const [position, resource] of getListAtPath(crd, 'resources').entries()) {
        const [apiVersion, kind] = [getStringAtPath(resource, 'version'), getStringAtPath(resource, 'kind')]
        mentioned.add(`${kind.toLowerCase()}s`)
        if (findApiRemovalKubeVersion(apiVersion, kind) !== '1.25') continue
        const name = `a resource listed for ${getStringAtPath(crd, 'name')}`
        const data = { api: `${apiVersion} ${kind}`, name, release: '1.25' }
        yield { path: [...path, 'resources', position], data, isCertain: isCertain('1.25') }
      }
  if (mentioned.has('podsecuritypolicies')) return
  for (const list of ['clusterPermissions', 'permissions'])
    for (const [path, entry] of listEntriesAtPath(csv.data, 'spec', 'install', 'spec', list))
      for (const [position, rule] of getListAtPath(entry, 'rules').entries()) {
        const ruleIncludes = (field: string, value: string) => getListAtPath(rule, field).includes(value)
        if (!ruleIncludes('apiGroups', 'policy') || !ruleIncludes('resources', 'podsecuritypolicies'))
          continue
        const name = `a permission of the service account ${getStringAtPath(entry, 'serviceAccountName')}`
        const data = { api: 'policy/v1beta1 PodSecurityPolicy', name, release: '1.25' }
        yield { path: [...path, 'rules', position], data, isCertain: false }
      }
}
