// The deployments of a ClusterServiceVersion: its annotations on their pods, the namespaces that the Operator watches,
// and the certificates of its webhooks.
import { at, listOf, objectOf, textOf } from '../fields.ts'
import type { Json } from '../../go/json/json.ts'
import { certificateNameOf } from './certificates.ts'
import { configuredDeployment } from './configured-deployment.ts'
import { generated, type Generation } from './generation.ts'
import type { JsonObject, PlainObject } from './rendering.ts'

/** Where OLM mounts certificates, and under which names: the first for webhooks, the second for API services. */
const certificateVolumes = [
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

export function deployments(generation: Generation): readonly PlainObject[] {
  const { csv, installNamespace, watchNamespaces, certificates, deploymentConfig } = generation
  const served = new Set(csv.webhooks.map(({ deployment }) => deployment))
  return csv.deployments.map(({ name, spec, labels }) => {
    const template = objectOf(spec['template'])
    const metadata = objectOf(template['metadata'])
    const annotations = {
      ...csv.annotations,
      // OLM v0 has it the other way round: there the ClusterServiceVersion wins.
      ...objectOf(metadata['annotations']),
      'olm.targetNamespaces': watchNamespaces.join(','),
      'olm.operatorNamespace': installNamespace,
    }
    const pod = objectOf(template['spec'])
    const mounted =
      certificates !== undefined && served.has(name) ? withCertificates(pod, certificateNameOf(name)) : pod
    const object = generated(
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
    return deploymentConfig ? configuredDeployment(object, deploymentConfig) : object
  })
}

/** The pod with the volumes of the certificate, in place of whatever had their names or their places. */
function withCertificates(pod: JsonObject, secretName: string): JsonObject {
  const containers = listOf(pod['containers']).map(objectOf)
  const places = new Set<string>(certificateVolumes.map(({ mountPath }) => mountPath))
  const replaced = new Set<string>(certificateVolumes.map(({ name }) => name))
  for (const container of containers)
    for (const mount of listOf(container['volumeMounts']))
      if (places.has(textOf(at(mount, 'mountPath')))) replaced.add(textOf(at(mount, 'name')))
  const kept = (list: Json | undefined) =>
    listOf(list).filter((entry) => !replaced.has(textOf(at(entry, 'name'))))
  return {
    ...pod,
    volumes: [
      ...kept(pod['volumes']),
      ...certificateVolumes.map(({ name, files }) => ({
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
        ...kept(container['volumeMounts']),
        ...certificateVolumes.map(({ name, mountPath }) => ({ name, mountPath })),
      ],
    })),
  }
}
