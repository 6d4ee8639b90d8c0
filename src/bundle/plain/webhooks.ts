import { at, objectOf } from '../fields.ts'
import type { Json } from '../../go/json/json.ts'
import { serviceNameOf, withAuthority, withServingCertificate } from './certificates.ts'
import type { Webhook, WebhookType } from './csv-view.ts'
import { generated, type Generation } from './generation.ts'
import type { JsonObject, PlainObject, RenderRefusal } from './rendering.ts'

const taken = [
  'rules',
  'failurePolicy',
  'matchPolicy',
  'objectSelector',
  'sideEffects',
  'timeoutSeconds',
  'admissionReviewVersions',
] as const

export function validatingWebhooks(generation: Generation): readonly PlainObject[] {
  return configurations(generation, 'ValidatingAdmissionWebhook', 'ValidatingWebhookConfiguration', taken)
}

export function mutatingWebhooks(generation: Generation): readonly PlainObject[] {
  const fields = [...taken, 'reinvocationPolicy']
  return configurations(generation, 'MutatingAdmissionWebhook', 'MutatingWebhookConfiguration', fields)
}

function configurations(
  generation: Generation,
  type: WebhookType,
  kind: string,
  fields: readonly string[],
): readonly PlainObject[] {
  const { csv, installNamespace, watchNamespaces } = generation
  return csv.webhooks
    .filter((webhook) => webhook.type === type)
    .map(({ name: full, deployment, port, definition }) => {
      const name = full.replace(/-$/, '')
      const path = definition['webhookPath']
      const webhook = {
        name,
        ...Object.fromEntries(fields.flatMap((field) => present(field, definition[field]))),
        clientConfig: {
          service: {
            ...{ namespace: installNamespace, name: serviceNameOf(deployment), port },
            ...(path !== undefined && { path }),
          },
        },
        ...(watchNamespaces.includes('') ? {} : { namespaceSelector: selectorOf(watchNamespaces) }),
      }
      // A configuration belongs to the cluster; OLM v1 names a namespace all the same.
      const metadata = { name, namespace: installNamespace }
      const object = generated(generation, ['admissionregistration.k8s.io/v1', kind], metadata, {
        webhooks: [webhook],
      })
      return withAuthority(generation, deployment, object)
    })
}

function present(field: string, value: Json | undefined): readonly (readonly [string, Json])[] {
  return value === undefined ? [] : [[field, value]]
}

function selectorOf(namespaces: readonly string[]): JsonObject {
  return { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }] }
}

/** The bundle's CRDs, with their conversion webhooks configured. */
export function definitions(generation: Generation): readonly (PlainObject | RenderRefusal)[] {
  const converters = new Map<string, Webhook>()
  for (const webhook of generation.csv.webhooks)
    if (webhook.type === 'ConversionWebhook')
      for (const crd of webhook.conversionCrds) converters.set(crd, webhook)
  return generation.bundle.crds.map((crd) => {
    const webhook = converters.get(crd.name)
    if (!webhook) return crd
    if (at(crd.manifest, 'spec', 'preserveUnknownFields') === true)
      return {
        message: `custom resource definition '${crd.name}' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion`,
        at: { file: crd.file, path: ['spec', 'preserveUnknownFields'] },
      }
    return withAuthority(generation, webhook.deployment, converted(generation, crd, webhook))
  })
}

function converted(
  { installNamespace: namespace }: Generation,
  crd: PlainObject,
  { deployment, port, definition }: Webhook,
): PlainObject {
  const versions = definition['admissionReviewVersions']
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: {
        service: {
          ...{ namespace, name: serviceNameOf(deployment), port },
          path: definition['webhookPath'] ?? '/',
        },
      },
      ...(versions !== undefined && { conversionReviewVersions: versions }),
    },
  }
  const spec = objectOf(crd.manifest['spec'])
  return { ...crd, manifest: { ...crd.manifest, spec: { ...spec, conversion } } }
}

/** One service for each deployment that has webhooks, with all their ports. */
export function services(generation: Generation): readonly PlainObject[] {
  const { csv, installNamespace: namespace } = generation
  return csv.deployments.flatMap(({ name: deployment, spec }) => {
    const webhooks = csv.webhooks.filter((webhook) => webhook.deployment === deployment)
    if (webhooks.length === 0) return []
    const selector = at(spec, 'selector', 'matchLabels')
    const object = generated(
      generation,
      ['v1', 'Service'],
      { name: serviceNameOf(deployment), namespace },
      { spec: { ports: portsOf(webhooks), ...(selector !== undefined && { selector }) } },
    )
    return [withServingCertificate(generation, deployment, object)]
  })
}

/** Each port once, by its number and then by where it leads; a port with a name counts as 0. */
function portsOf(webhooks: readonly Webhook[]): readonly Json[] {
  const ports = new Map<string, { name: string; port: number; targetPort: number | string }>()
  for (const { port: named, definition } of webhooks) {
    const port = named > 0 ? named : 443
    const target = definition['targetPort']
    const targetPort = typeof target === 'number' || typeof target === 'string' ? target : port
    ports.set(JSON.stringify([port, targetPort]), { name: String(port), port, targetPort })
  }
  const number = (target: number | string) =>
    typeof target === 'number' ? target : /^[+-]?\d+$/.test(target) ? Number(target) : 0
  const text = (target: number | string) => String(target)
  return [...ports.values()].sort(
    (a, b) =>
      a.port - b.port ||
      number(a.targetPort) - number(b.targetPort) ||
      (text(a.targetPort) < text(b.targetPort) ? -1 : 1),
  )
}
