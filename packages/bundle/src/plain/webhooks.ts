// The objects that OLM v1 generates for webhooks and their certificates, and the names that it generates for objects.
import { sha224 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { escapeHtmlInJson } from '@catalog-bot/fbc/go/json/json-text'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import { getJsonFieldAtPath, asObjectOrEmpty, getObjectAtPath } from '../fields.ts'
import {
  type CsvWebhook,
  type WebhookType,
  createRenderedObject,
  type ManifestGeneratorInput,
} from './csv-view.ts'
import type { JsonObject, RenderedObject, RenderRejection } from './rendering.ts'

const passthroughWebhookFields = [
  'rules',
  'failurePolicy',
  'matchPolicy',
  'objectSelector',
  'sideEffects',
  'timeoutSeconds',
  'admissionReviewVersions',
] as const

export function generateValidatingWebhooks(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  return generateWebhookConfigurations(
    generation,
    'ValidatingAdmissionWebhook',
    'ValidatingWebhookConfiguration',
    passthroughWebhookFields,
  )
}

export function generateMutatingWebhooks(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const fields = [...passthroughWebhookFields, 'reinvocationPolicy']
  return generateWebhookConfigurations(
    generation,
    'MutatingAdmissionWebhook',
    'MutatingWebhookConfiguration',
    fields,
  )
}

function generateWebhookConfigurations(
  generation: ManifestGeneratorInput,
  type: WebhookType,
  kind: string,
  fields: readonly string[],
): readonly RenderedObject[] {
  const { csv, installNamespace, watchNamespaces } = generation
  return csv.webhooks
    .filter((webhook) => webhook.type === type)
    .map(({ name: full, deployment, port, definition }) => {
      const name = full.replace(/-$/, '')
      const path = definition['webhookPath']
      const webhook = {
        name,
        ...Object.fromEntries(fields.flatMap((field) => toObjectEntryIfDefined(field, definition[field]))),
        clientConfig: {
          service: {
            ...{ namespace: installNamespace, name: formatDeploymentServiceName(deployment), port },
            ...(path !== undefined && { path }),
          },
        },
        ...(watchNamespaces.includes('')
          ? {}
          : { namespaceSelector: createNamespaceSelector(watchNamespaces) }),
      }
      // The configuration is cluster-scoped, but OLM v1 sets a namespace anyway.
      const metadata = { name, namespace: installNamespace }
      const object = createRenderedObject(generation, ['admissionregistration.k8s.io/v1', kind], metadata, {
        webhooks: [webhook],
      })
      return addCaInjectionAnnotation(generation, deployment, object)
    })
}

function toObjectEntryIfDefined(
  field: string,
  value: Json | undefined,
): readonly (readonly [string, Json])[] {
  return value === undefined ? [] : [[field, value]]
}

function createNamespaceSelector(namespaces: readonly string[]): JsonObject {
  return { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }] }
}

/** The bundle's CRDs, with their conversion webhooks configured. */
export function generateCrds(
  generation: ManifestGeneratorInput,
): readonly (RenderedObject | RenderRejection)[] {
  const converters = new Map<string, CsvWebhook>()
  for (const webhook of generation.csv.webhooks)
    if (webhook.type === 'ConversionWebhook')
      for (const crd of webhook.conversionCrds) converters.set(crd, webhook)
  return generation.bundle.crds.map((crd) => {
    const webhook = converters.get(crd.name)
    if (!webhook) return crd
    if (getJsonFieldAtPath(crd.manifest, 'spec', 'preserveUnknownFields') === true)
      return {
        message: `custom resource definition '${crd.name}' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion`,
        at: { file: crd.file, path: ['spec', 'preserveUnknownFields'] },
      }
    return addCaInjectionAnnotation(
      generation,
      webhook.deployment,
      addConversionWebhook(generation, crd, webhook),
    )
  })
}

function addConversionWebhook(
  { installNamespace: namespace }: ManifestGeneratorInput,
  crd: RenderedObject,
  { deployment, port, definition }: CsvWebhook,
): RenderedObject {
  const versions = definition['admissionReviewVersions']
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: {
        service: {
          ...{ namespace, name: formatDeploymentServiceName(deployment), port },
          path: definition['webhookPath'] ?? '/',
        },
      },
      ...(versions !== undefined && { conversionReviewVersions: versions }),
    },
  }
  const spec = asObjectOrEmpty(crd.manifest['spec'])
  return { ...crd, manifest: { ...crd.manifest, spec: { ...spec, conversion } } }
}

/** One service for each deployment that has webhooks, with all their ports. */
export function generateWebhookServices(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const { csv, installNamespace: namespace } = generation
  return csv.deployments.flatMap(({ name: deployment, spec }) => {
    const webhooks = csv.webhooks.filter((webhook) => webhook.deployment === deployment)
    if (webhooks.length === 0) return []
    const selector = getJsonFieldAtPath(spec, 'selector', 'matchLabels')
    const object = createRenderedObject(
      generation,
      ['v1', 'Service'],
      { name: formatDeploymentServiceName(deployment), namespace },
      { spec: { ports: toWebhookServicePorts(webhooks), ...(selector !== undefined && { selector }) } },
    )
    return [addServingCertAnnotation(generation, deployment, object)]
  })
}

/** Unique ports, sorted by number and then by target. A named port counts as 0. */
function toWebhookServicePorts(webhooks: readonly CsvWebhook[]): readonly Json[] {
  const ports = new Map<string, { name: string; port: number; targetPort: number | string }>()
  for (const { port: named, definition } of webhooks) {
    const port = named > 0 ? named : 443
    const target = definition['targetPort']
    const targetPort = typeof target === 'number' || typeof target === 'string' ? target : port
    ports.set(JSON.stringify([port, targetPort]), { name: String(port), port, targetPort })
  }
  const toPortNumber = (target: number | string) =>
    typeof target === 'number' ? target : /^[+-]?\d+$/.test(target) ? Number(target) : 0
  const text = (target: number | string) => String(target)
  return [...ports.values()].sort(
    (a, b) =>
      a.port - b.port ||
      toPortNumber(a.targetPort) - toPortNumber(b.targetPort) ||
      (text(a.targetPort) < text(b.targetPort) ? -1 : 1),
  )
}

// The service of a deployment with webhooks, and the provider of its certificate: cert-manager or OpenShift.

/** OLM v1 keeps OLM v0's names. */
function formatDeploymentServiceName(deployment: string): string {
  return formatObjectNameWithSuffix(deployment.replaceAll('.', '-'), 'service')
}

export function formatDeploymentCertificateName(deployment: string): string {
  return formatObjectNameWithSuffix(formatDeploymentServiceName(deployment), 'cert')
}

/** Returns the object with the annotation that makes the provider inject its certificate authority. */
function addCaInjectionAnnotation(
  generation: ManifestGeneratorInput,
  deployment: string,
  object: RenderedObject,
): RenderedObject {
  const { certificates, installNamespace } = generation
  if (certificates === 'cert-manager')
    return addAnnotations(object, {
      'cert-manager.io/inject-ca-from': `${installNamespace}/${formatDeploymentCertificateName(deployment)}`,
    })
  if (certificates === 'openshift-service-ca')
    return addAnnotations(object, { 'service.beta.openshift.io/inject-cabundle': 'true' })
  return object
}

/** Adds the annotation that requests a certificate from OpenShift. cert-manager uses separate objects instead. */
function addServingCertAnnotation(
  { certificates }: ManifestGeneratorInput,
  deployment: string,
  service: RenderedObject,
): RenderedObject {
  if (certificates !== 'openshift-service-ca') return service
  return addAnnotations(service, {
    'service.beta.openshift.io/serving-cert-secret-name': formatDeploymentCertificateName(deployment),
  })
}

function addAnnotations(object: RenderedObject, annotations: JsonObject): RenderedObject {
  const metadata = asObjectOrEmpty(object.manifest['metadata'])
  const all = { ...getObjectAtPath(metadata, 'annotations'), ...annotations }
  return { ...object, manifest: { ...object.manifest, metadata: { ...metadata, annotations: all } } }
}

/** One issuer and one certificate for each deployment, sorted by name, because OLM defines no order. */
export function generateCertificates(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const { csv, installNamespace: namespace } = generation
  if (generation.certificates !== 'cert-manager') return []
  const deployments = new Set(csv.webhooks.map(({ deployment }) => deployment))
  return [...deployments].sort().flatMap((deployment) => {
    const name = formatDeploymentCertificateName(deployment)
    const issuer = formatObjectNameWithSuffix(name, 'selfsigned-issuer')
    const host = `${formatDeploymentServiceName(deployment)}.${namespace}`
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

// OLM generates names from a base and usually the object's hash, truncated to the length of a label.
const maxObjectNameBytes = 63

/** Truncates the base if both exceed 63 bytes. As in OLM, the dash doesn't count, so the result can have 64 bytes. */
function formatObjectNameWithSuffix(base: string, suffix: string): string {
  const bytes = new TextEncoder().encode(base)
  const isLong = bytes.length + suffix.length > maxObjectNameBytes
  return `${isLong ? decodeUtf8LikeGo(bytes.subarray(0, maxObjectNameBytes - suffix.length - 1)) : base}-${suffix}`
}

/** The base with the hash of a value: base 36 of the SHA-224 of Go's JSON and a line feed. */
export function formatObjectNameWithHash(base: string, value: Json): string {
  // Keeps the order of the fields, because a Go struct is written in the order of its type.
  const hash = sha224(new TextEncoder().encode(`${escapeHtmlInJson(JSON.stringify(value))}\n`))
  return formatObjectNameWithSuffix(base, BigInt(`0x${bytesToHex(hash)}`).toString(36))
}
