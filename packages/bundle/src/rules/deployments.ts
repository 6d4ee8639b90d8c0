// Rules about deployments, their images, and webhooks.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { defineBundleRule } from '../bundle-rule.ts'
import type { ManifestObject } from '../registry-bundle.ts'
import {
  getJsonFieldAtPath,
  asStringOrEmpty,
  getCsvPodSpecFieldPath,
  getListAtPath,
  getObjectAtPath,
  getStringAtPath,
  listEntriesAtPath,
} from '../fields.ts'

export const duplicateWebhookRule = defineBundleRule<{ webhook: string }>({
  id: 'duplicate-webhook',
  severity: 'warning',
  title: 'Webhooks of the same type have unique names',
  what: ({ webhook }) => `two webhooks of the same type are named "${webhook}"`,
  why: 'OLM v1 rejects the bundle.',
  fix: 'Give each webhook a unique generateName.',
  *find({ csv }) {
    const seen = new Set<string>()
    for (const [path, entry] of listEntriesAtPath(csv.data, 'spec', 'webhookdefinitions')) {
      const webhook = getStringAtPath(entry, 'generateName')
      const key = `${getStringAtPath(entry, 'type')} ${webhook}`
      if (seen.has(key)) yield { path: [...path, 'generateName'], data: { webhook } }
      seen.add(key)
    }
  },
})

export const brokenWebhookRule = defineBundleRule<{ problem: string }>({
  id: 'broken-webhook',
  severity: 'error',
  title: 'Webhooks reference deployments and CRDs that are in the bundle',
  what: ({ problem }) => problem,
  why: "OLM doesn't install the webhook, and the ClusterServiceVersion fails.",
  fix: 'Set deploymentName to a deployment in the install strategy, and list only owned CRDs in conversionCRDs.',
  *find({ csv }) {
    const names = (...path: string[]) =>
      getListAtPath(csv.data, 'spec', ...path).map((entry) => getJsonFieldAtPath(entry, 'name'))
    const deployments = names('install', 'spec', 'deployments')
    const owned = names('customresourcedefinitions', 'owned')
    for (const [path, entry] of listEntriesAtPath(csv.data, 'spec', 'webhookdefinitions')) {
      const webhook = `the webhook "${getStringAtPath(entry, 'generateName')}"`
      const deployment = getStringAtPath(entry, 'deploymentName')
      const hit = (problem: string) => ({ path, data: { problem: `${webhook} ${problem}` } })
      if (!deployments.includes(deployment))
        yield hit(`references the deployment "${deployment}", which is not in the install strategy`)
      for (const crd of getListAtPath(entry, 'conversionCRDs'))
        if (!owned.includes(crd)) yield hit(`converts ${asStringOrEmpty(crd)}, which the bundle does not own`)
    }
  },
})

export const platformNowhereScheduledRule = defineBundleRule<{ platform: string; deployment: string }>({
  id: 'platform-nowhere-scheduled',
  severity: 'warning',
  suite: 'multiarch',
  title: 'Deployments can run on every platform that the bundle supports',
  what: ({ platform, deployment }) =>
    `the bundle declares support for ${platform}, but the node affinity of ${deployment} excludes it`,
  why: 'Users on the excluded platform can install the Operator, but its pods remain Pending.',
  fix: 'Remove the platform label, or relax the node affinity.',
  *find({ csv }) {
    const labels = Object.entries(getObjectAtPath(csv.data, 'metadata', 'labels'))
    const deployments = getListAtPath(csv.data, 'spec', 'install', 'spec', 'deployments')
    for (const [label, value] of labels) {
      const platform = /^operatorframework\.io\/(arch|os)\.(.+)$/.exec(label)
      if (!platform || value !== 'supported') continue
      const [, part = '', name = ''] = platform
      for (const entry of deployments) {
        const allowed = findAllowedNodeLabelValues(entry, `kubernetes.io/${part}`)
        if (allowed && !allowed.includes(name))
          yield {
            path: ['metadata', 'labels', label],
            data: { platform: name, deployment: getStringAtPath(entry, 'name') },
          }
      }
    }
  },
})

export const unparsableRelatedImageRule = defineBundleRule<{ image: string; reason: string }>({
  id: 'unparsable-related-image',
  severity: 'error',
  title: 'Related images are valid image references',
  what: ({ image, reason }) => `the related image "${image}" is not a valid image reference: ${reason}`,
  why: "Mirroring tools can't copy the image, and opm rejects a catalog that contains a malformed reference.",
  fix: 'Use the form HOST/REPOSITORY@sha256:…, or remove the entry.',
  *find({ relatedImages }) {
    for (const [index, { image }] of relatedImages.entries()) {
      const { reason } = image === '' ? { reason: 'the reference is empty' } : parseImageReference(image)
      if (reason !== undefined)
        yield { path: ['spec', 'relatedImages', index, 'image'], data: { image, reason } }
    }
  },
})

export const unrelatedImageRule = defineBundleRule<{ image: string; where: string }>({
  id: 'unrelated-image',
  severity: 'warning',
  suite: 'openshift',
  title: 'Every image that an Operator runs is listed as a related image',
  what: ({ image, where }) => `the image "${image}" (${where}) is not in spec.relatedImages`,
  why: "Mirroring tools don't copy the image to disconnected clusters.",
  fix: 'Add the image to spec.relatedImages, and reference it by digest.',
  *find({ csv, relatedImages }) {
    const related = new Set(relatedImages.map(({ image }) => image))
    for (const [path, container] of listContainers(csv, 'initContainers', 'containers')) {
      const named = [
        [`container ${getStringAtPath(container, 'name')}`, getStringAtPath(container, 'image')] as const,
        ...getListAtPath(container, 'env')
          .map((entry) => [getStringAtPath(entry, 'name'), getStringAtPath(entry, 'value')] as const)
          .filter(([variable]) => variable.startsWith('RELATED_IMAGE_')),
      ]
      for (const [where, image] of named)
        if (image !== '' && !related.has(image)) yield { path, data: { image, where } }
    }
  },
})

export const unknownServiceAccountRule = defineBundleRule<{ deployment: string; account: string }>({
  id: 'unknown-service-account',
  severity: 'warning',
  title: 'Every deployment uses an existing service account',
  what: ({ deployment, account }) =>
    `the deployment ${deployment} uses the service account "${account}", which neither OLM nor the bundle creates`,
  why: "OLM creates only the service accounts that are listed in permissions, so the pods can't start.",
  fix: 'Grant permissions to the service account, or add a ServiceAccount to the bundle.',
  *find({ csv, objects }) {
    const install = (list: string) => getListAtPath(csv.data, 'spec', 'install', 'spec', list)
    const created = new Set([
      '',
      'default',
      ...['permissions', 'clusterPermissions'].flatMap((list) =>
        install(list).map((entry) => getStringAtPath(entry, 'serviceAccountName')),
      ),
      ...objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
    ])
    for (const [index, entry] of install('deployments').entries()) {
      const account = getStringAtPath(entry, 'spec', 'template', 'spec', 'serviceAccountName')
      if (!created.has(account))
        yield {
          path: getCsvPodSpecFieldPath(index, 'serviceAccountName'),
          data: { deployment: getStringAtPath(entry, 'name'), account },
        }
    }
  },
})

export const noResourceRequestsRule = defineBundleRule<{ container: string }>({
  id: 'no-resource-requests',
  severity: 'warning',
  suite: 'good-practices',
  title: 'Containers request CPU and memory',
  what: ({ container }) => `the container "${container}" does not request CPU and memory`,
  why: 'Clusters with resource quotas reject pods without requests, and other clusters schedule such pods poorly.',
  fix: 'Set resources.requests for cpu and memory.',
  *find({ csv }) {
    for (const [path, container] of listContainers(csv, 'containers')) {
      const requests = getObjectAtPath(container, 'resources', 'requests')
      if (!('cpu' in requests && 'memory' in requests))
        yield { path, data: { container: getStringAtPath(container, 'name') } }
    }
  },
})

export const noDeploymentRule = defineBundleRule<Record<never, never>>({
  id: 'no-deployment',
  severity: 'error',
  suite: 'good-practices',
  title: 'A bundle has a deployment',
  what: 'the ClusterServiceVersion has no deployments',
  why: "The bundle doesn't install an Operator.",
  fix: 'Define the deployment in spec.install.spec.deployments.',
  *find({ csv }) {
    if ((getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', 'deployments') ?? null) === null)
      yield { path: ['spec', 'install'], data: {} }
  },
})

export const brokenDeploymentRule = defineBundleRule<{ problem: string }>({
  id: 'broken-deployment',
  severity: 'error',
  title: 'Deployments have valid, unique names',
  what: ({ problem }) => problem,
  why: "OLM can't run the install strategy.",
  fix: 'Give each deployment a unique name that is a valid DNS name.',
  *find({ csv }) {
    const names = getListAtPath(csv.data, 'spec', 'install', 'spec', 'deployments').map((entry) =>
      getStringAtPath(entry, 'name'),
    )
    for (const [index, deployment] of names.entries()) {
      const path = ['spec', 'install', 'spec', 'deployments', index, 'name']
      if (!/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(deployment))
        yield { path, data: { problem: `the deployment "${deployment}" does not have a valid DNS name` } }
      else if (names.indexOf(deployment) !== index)
        yield { path, data: { problem: `the deployment "${deployment}" is listed twice` } }
    }
  },
})

/** The containers in these lists of each deployment, with their paths. */
function* listContainers({ data }: ManifestObject, ...lists: readonly string[]) {
  for (const [index, deployment] of getListAtPath(data, 'spec', 'install', 'spec', 'deployments').entries())
    for (const list of lists)
      for (const [path, container] of listEntriesAtPath(deployment, 'spec', 'template', 'spec', list))
        yield [getCsvPodSpecFieldPath(index, list, path.at(-1) ?? 0), container] as const
}

/** The label values that the required node affinity allows; undefined if a term does not restrict the label. */
function findAllowedNodeLabelValues(deployment: Json, key: string): readonly string[] | undefined {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const pod = getJsonFieldAtPath(deployment, 'spec', 'template', 'spec')
  const terms = getListAtPath(pod, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms')
  if (terms.length === 0) return undefined
  const allowed: string[] = []
  for (const term of terms) {
    const matchExpression = getListAtPath(term, 'matchExpressions').find(
      (expression) =>
        getJsonFieldAtPath(expression, 'key') === key && getJsonFieldAtPath(expression, 'operator') === 'In',
    )
    if (matchExpression === undefined) return undefined
    allowed.push(...getListAtPath(matchExpression, 'values').map(asStringOrEmpty))
  }
  return allowed
}
