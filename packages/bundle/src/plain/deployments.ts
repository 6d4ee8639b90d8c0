// The deployments of a ClusterServiceVersion as OLM v1 changes them: annotations, watched namespaces, certificates.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { asListOrEmpty, asObjectOrEmpty, getStringAtPath } from '../fields.ts'
import { formatDeploymentCertificateName } from './webhooks.ts'
import { createRenderedObject, type ManifestGeneratorInput } from './csv-view.ts'
import type { JsonObject, RenderedObject } from './rendering.ts'

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
  const { csv, installNamespace, watchNamespaces, certificates } = generation
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
    return createRenderedObject(
      generation,
      ['apps/v1', 'Deployment'],
      { name, namespace: installNamespace, ...(Object.keys(labels).length > 0 && { labels }) },
      {
        spec: {
          ...spec,
          template: { ...template, metadata: { ...metadata, annotations }, spec: mounted },
          revisionHistoryLimit: 1,
        },
      },
    )
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
