// The deployments of a ClusterServiceVersion, with its annotations on their pods, the watched namespaces, and the
// certificates of its webhooks.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import {
  getJsonFieldAtPath,
  asListOrEmpty,
  asObjectOrEmpty,
  asStringOrEmpty,
  getListAtPath,
  getStringAtPath,
} from '../fields.ts'
import { formatDeploymentCertificateName } from './webhooks.ts'
import { createRenderedObject, type ManifestGeneratorInput } from './csv-view.ts'
import type { JsonObject, RenderedObject, DeploymentConfig } from './rendering.ts'
import { toCanonicalJson } from '../upgrade/compare-properties.ts'

const requiredAffinityField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredAffinityField = 'preferredDuringSchedulingIgnoredDuringExecution'

/** OLM's mount paths and file names for certificates: first for webhooks, then for API services. */
const certificateVolumeMounts = [
  {
    name: 'webhook-cert',
    mountPath: '/tmp/k8s-webhook-server/serving-certs',
    files: { certificate: 'tls.crt', key: 'tls.key' },
  },
  {
    name: 'apiservice-cert',
    mountPath: '/apiserver.local.config/certificates',
    files: { certificate: 'apiserver.crt', key: 'apiserver.key' },
  },
] as const

export function generateDeployments(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const { csv, installNamespace, watchNamespaces, certificates, deploymentConfig } = generation
  const served = new Set(csv.webhooks.map(({ deployment }) => deployment))
  return csv.deployments.map(({ name, spec, labels }) => {
    const template = asObjectOrEmpty(spec['template'])
    const metadata = asObjectOrEmpty(template['metadata'])
    const annotations = {
      ...csv.annotations,
      // In OLM v0, the ClusterServiceVersion takes precedence instead.
      ...asObjectOrEmpty(metadata['annotations']),
      'olm.targetNamespaces': watchNamespaces.join(','),
      'olm.operatorNamespace': installNamespace,
    }
    const pod = asObjectOrEmpty(template['spec'])
    const mounted =
      certificates !== undefined && served.has(name)
        ? mountCertificateVolumes(pod, formatDeploymentCertificateName(name))
        : pod
    const object = createRenderedObject(
      generation,
      ['apps/v1', 'Deployment'],
      {
        ...{ name, namespace: installNamespace },
        ...(Object.keys(labels).length > 0 && { labels }),
      },
      {
        spec: {
          ...spec,
          template: { ...template, metadata: { ...metadata, annotations }, spec: mounted },
          revisionHistoryLimit: 1,
        },
      },
    )
    return deploymentConfig ? applyDeploymentConfig(object, deploymentConfig) : object
  })
}

/** Returns the pod with the certificate volumes, which replace any volumes with the same names or mount paths. */
function mountCertificateVolumes(pod: JsonObject, secretName: string): JsonObject {
  const containers = asListOrEmpty(pod['containers']).map(asObjectOrEmpty)
  const mountPaths = new Set<string>(certificateVolumeMounts.map(({ mountPath }) => mountPath))
  const replaced = new Set<string>(certificateVolumeMounts.map(({ name }) => name))
  for (const container of containers)
    for (const mount of asListOrEmpty(container['volumeMounts']))
      if (mountPaths.has(getStringAtPath(mount, 'mountPath'))) replaced.add(getStringAtPath(mount, 'name'))
  const withoutReplaced = (list: Json | undefined) =>
    asListOrEmpty(list).filter((entry) => !replaced.has(getStringAtPath(entry, 'name')))
  return {
    ...pod,
    volumes: [
      ...withoutReplaced(pod['volumes']),
      ...certificateVolumeMounts.map(({ name, files }) => ({
        name,
        secret: {
          secretName,
          items: [
            { key: 'tls.crt', path: files.certificate },
            { key: 'tls.key', path: files.key },
          ],
        },
      })),
    ],
    containers: containers.map((container) => ({
      ...container,
      volumeMounts: [
        ...withoutReplaced(container['volumeMounts']),
        ...certificateVolumeMounts.map(({ name, mountPath }) => ({ name, mountPath })),
      ],
    })),
  }
}

/** Applies OLM v1's deploymentConfig, which follows a Subscription's config, to all deployments. */
function applyDeploymentConfig(deployment: RenderedObject, config: DeploymentConfig): RenderedObject {
  const spec = asObjectOrEmpty(deployment.manifest['spec'])
  const template = asObjectOrEmpty(spec['template'])
  const pod = applyDeploymentConfigToPod(asObjectOrEmpty(template['spec']), config)
  const whole = {
    ...deployment.manifest,
    metadata: addAnnotationsToMetadata(deployment.manifest['metadata'], config.annotations),
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: addAnnotationsToMetadata(template['metadata'], config.annotations),
        spec: pod,
      },
    },
  }
  return { ...deployment, manifest: whole }
}

function applyDeploymentConfigToPod(pod: JsonObject, config: DeploymentConfig): JsonObject {
  const { env, envFrom, volumes, volumeMounts, tolerations, resources, nodeSelector, affinity } = config
  const containers = asListOrEmpty(pod['containers']).map((container) => ({
    ...asObjectOrEmpty(container),
    ...(env &&
      env.length > 0 && { env: overrideListEntriesByName(getJsonFieldAtPath(container, 'env'), env) }),
    ...(envFrom &&
      envFrom.length > 0 && {
        envFrom: appendMissingListEntries(getJsonFieldAtPath(container, 'envFrom'), envFrom),
      }),
    ...(volumeMounts &&
      volumeMounts.length > 0 && {
        volumeMounts: overrideListEntriesByName(getJsonFieldAtPath(container, 'volumeMounts'), volumeMounts),
      }),
    ...(resources && { resources }),
  }))
  return {
    ...pod,
    ...(pod['containers'] !== undefined && { containers }),
    ...(volumes && volumes.length > 0 && { volumes: overrideListEntriesByName(pod['volumes'], volumes) }),
    ...(tolerations &&
      tolerations.length > 0 && { tolerations: appendMissingListEntries(pod['tolerations'], tolerations) }),
    ...(nodeSelector && { nodeSelector }),
    ...(affinity && { affinity: mergeAffinity(asObjectOrEmpty(pod['affinity']), affinity) }),
  }
}

/** An entry replaces the original entry with its name, or the last one if there are several. */
function overrideListEntriesByName(list: Json | undefined, entries: readonly JsonObject[]): readonly Json[] {
  const result = [...asListOrEmpty(list)]
  const before = result.map((entry) => getStringAtPath(entry, 'name'))
  for (const entry of entries) {
    const index = before.lastIndexOf(asStringOrEmpty(entry['name']))
    if (index >= 0) result[index] = entry
    else result.push(entry)
  }
  return result
}

/** Skips entries that are already present. */
function appendMissingListEntries(list: Json | undefined, entries: readonly JsonObject[]): readonly Json[] {
  const result = [...asListOrEmpty(list)]
  for (const entry of entries)
    if (!result.some((other) => toCanonicalJson(other) === toCanonicalJson(entry))) result.push(entry)
  return result
}

/**
 * An empty affinity erases the whole affinity, and an empty part erases that part. Other parts replace the existing
 * ones.
 */
function mergeAffinity(before: JsonObject, affinity: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...before }
  const parts = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'].filter((part) =>
    isNonNullJson(affinity[part]),
  )
  if (parts.length === 0) return {}
  for (const part of parts)
    if (isEmptyAffinity(affinity[part])) delete result[part]
    else result[part] = affinity[part] ?? null
  return Object.values(result).every(isEmptyAffinity) ? {} : result
}

function isNonNullJson(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

function isEmptyAffinity(part: Json | undefined): boolean {
  const requiredTerms = getJsonFieldAtPath(part, requiredAffinityField)
  const terms = Array.isArray(requiredTerms)
    ? requiredTerms
    : getListAtPath(requiredTerms, 'nodeSelectorTerms')
  return terms.length === 0 && getListAtPath(part, preferredAffinityField).length === 0
}

function addAnnotationsToMetadata(metadata: Json | undefined, annotations: DeploymentConfig['annotations']) {
  const before = asObjectOrEmpty(metadata)
  if (!annotations || Object.keys(annotations).length === 0) return before
  return { ...before, annotations: { ...annotations, ...asObjectOrEmpty(before['annotations']) } }
}
