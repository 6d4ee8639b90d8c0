// The service of a deployment with webhooks, and the provider of its certificate: cert-manager or OpenShift.
import { getJsonFieldAtPath, asObjectOrEmpty } from '../fields.ts'
import { createRenderedObject, type ManifestGeneratorInput } from './generator-input.ts'
import { formatObjectNameWithSuffix } from './object-name.ts'
import type { JsonObject, RenderedObject } from './rendering.ts'

/** OLM v1 keeps OLM v0's names. */
export function formatServiceName(deployment: string): string {
  return formatObjectNameWithSuffix(deployment.replaceAll('.', '-'), 'service')
}

export function formatCertificateName(deployment: string): string {
  return formatObjectNameWithSuffix(formatServiceName(deployment), 'cert')
}

/** Returns the object with the annotation that makes the provider inject its certificate authority. */
export function addCaInjectionAnnotation(
  generation: ManifestGeneratorInput,
  deployment: string,
  object: RenderedObject,
): RenderedObject {
  const { certificates, installNamespace } = generation
  if (certificates === 'cert-manager')
    return addAnnotations(object, {
      'cert-manager.io/inject-ca-from': `${installNamespace}/${formatCertificateName(deployment)}`,
    })
  if (certificates === 'openshift-service-ca')
    return addAnnotations(object, { 'service.beta.openshift.io/inject-cabundle': 'true' })
  return object
}

/** Adds the annotation that requests a certificate from OpenShift. cert-manager uses separate objects instead. */
export function addServingCertAnnotation(
  { certificates }: ManifestGeneratorInput,
  deployment: string,
  service: RenderedObject,
): RenderedObject {
  if (certificates !== 'openshift-service-ca') return service
  return addAnnotations(service, {
    'service.beta.openshift.io/serving-cert-secret-name': formatCertificateName(deployment),
  })
}

function addAnnotations(object: RenderedObject, annotations: JsonObject): RenderedObject {
  const metadata = asObjectOrEmpty(object.manifest['metadata'])
  const all = { ...asObjectOrEmpty(getJsonFieldAtPath(metadata, 'annotations')), ...annotations }
  return { ...object, manifest: { ...object.manifest, metadata: { ...metadata, annotations: all } } }
}

/** One issuer and one certificate for each deployment, sorted by name, because OLM defines no order. */
export function generateCertificates(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const { csv, installNamespace: namespace } = generation
  if (generation.certificates !== 'cert-manager') return []
  const deployments = new Set(csv.webhooks.map(({ deployment }) => deployment))
  return [...deployments].sort().flatMap((deployment) => {
    const name = formatCertificateName(deployment)
    const issuer = formatObjectNameWithSuffix(name, 'selfsigned-issuer')
    const host = `${formatServiceName(deployment)}.${namespace}`
    return [
      createRenderedObject(
        generation,
        ['cert-manager.io/v1', 'Issuer'],
        { name: issuer, namespace },
        { spec: { selfSigned: {} } },
      ),
      createRenderedObject(
        generation,
        ['cert-manager.io/v1', 'Certificate'],
        { name, namespace },
        {
          spec: {
            secretName: name,
            commonName: host,
            usages: ['server auth'],
            dnsNames: [host, `${host}.svc`, `${host}.svc.cluster.local`],
            issuerRef: { name: issuer },
            // OLM v0's values: valid for two years, renewed a day before expiry.
            duration: '17520h0m0s',
            renewBefore: '24h0m0s',
          },
        },
      ),
    ]
  })
}
