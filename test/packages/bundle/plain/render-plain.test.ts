import { describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { renderPlainManifests } from '../../../../packages/bundle/src/plain/render-plain.ts'
import { formatObjectNameWithHash } from '../../../../packages/bundle/src/plain/webhooks.ts'
import type { PlainManifestRenderOptions } from '../../../../packages/bundle/src/plain/rendering.ts'
import { createBundleFiles, createCrd, type SampleBundle } from '../sample-bundles.ts'
import fc from '../../../seeded.ts'
import { installBundleArbitrary } from './random-install-bundle.ts'
import { checkBundleInstall } from '../../../../packages/bundle/src/check-install.ts'

const webDeployment = {
  name: 'web',
  label: { part: 'manager' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { both: 'template' } },
      spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1000m' } }, dropped: true }] },
    },
  },
}
const createInstallModes = (...types: readonly string[]) => types.map((type) => ({ type, supported: true }))
const policyRule = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', '*'] }

function createSampleBundle(
  more: Record<string, unknown> = {},
  install: Record<string, unknown> = {},
): SampleBundle {
  return {
    metadata: { annotations: { both: 'csv', own: 'csv' } },
    spec: {
      installModes: createInstallModes('AllNamespaces', 'OwnNamespace'),
      install: { strategy: 'deployment', spec: { deployments: [webDeployment], ...install } },
      ...more,
    },
  }
}

function renderSampleBundle(shape: SampleBundle, options: Partial<PlainManifestRenderOptions> = {}) {
  return renderPlainManifests(createBundleFiles('foo', shape), { installNamespace: 'operators', ...options })
}

function formatRenderedObjectNames(rendering: ReturnType<typeof renderSampleBundle>): readonly string[] {
  return rendering.objects.map(({ kind, namespace, name }) =>
    [kind, namespace, name].filter(Boolean).join(' '),
  )
}

describe('a registry+v1 bundle', () => {
  test('gets accounts, and roles with the same hashed names as in OLM v1', () => {
    const permissions = { permissions: [{ serviceAccountName: 'runner', rules: [policyRule] }] }
    // The names are what operator-controller v1.11.0 prints for this bundle.
    expect(formatRenderedObjectNames(renderSampleBundle(createSampleBundle({}, permissions)))).toEqual([
      'ServiceAccount operators runner',
      'ClusterRole foo.v1.0.0-runner-u8fqe43fdyn6vws2gf4z8zujl4mgcicxnlbyqf6csmy',
      'ClusterRoleBinding foo.v1.0.0-runner-u8fqe43fdyn6vws2gf4z8zujl4mgcicxnlbyqf6csmy',
      'Deployment operators web',
    ])
    expect(
      formatRenderedObjectNames(
        renderSampleBundle(createSampleBundle({}, permissions), { watchNamespaces: ['operators'] }),
      ),
    ).toEqual([
      'ServiceAccount operators runner',
      'Role operators foo.v1.0.0-runner-19uwp6dz9x041bd3s05jx114758zbt00z7ye5hxgmryo',
      'RoleBinding operators foo.v1.0.0-runner-19uwp6dz9x041bd3s05jx114758zbt00z7ye5hxgmryo',
      'Deployment operators web',
    ])
  })

  test('omits 0 and false where Go omits them, and keeps them for pointer fields', () => {
    const zeros = {
      name: 'web',
      spec: {
        paused: false,
        minReadySeconds: 0,
        replicas: 0,
        progressDeadlineSeconds: 0,
        template: {
          spec: {
            hostNetwork: false,
            automountServiceAccountToken: false,
            priority: 0,
            volumes: [
              { name: 'nfs', nfs: { path: '/', server: 's', readOnly: false } },
              { name: 'csi', csi: { driver: 'd', readOnly: false } },
            ],
            containers: [
              {
                name: 'c',
                tty: false,
                ports: [{ containerPort: 0, hostPort: 0 }],
                livenessProbe: { initialDelaySeconds: 0, terminationGracePeriodSeconds: 0 },
                securityContext: { privileged: false, runAsUser: 0 },
                volumeMounts: [{ name: 'nfs', mountPath: '/', readOnly: false }],
              },
            ],
          },
        },
      },
    }
    const printed = { priority: 0, jsonPath: '.a', name: 'A', type: 'string' }
    const version = { name: 'v1', served: false, storage: true, deprecated: false }
    const openAPIV3Schema = {
      type: 'object',
      nullable: false,
      properties: { paused: { type: 'boolean', default: false, minimum: 0, uniqueItems: false } },
      'x-kubernetes-preserve-unknown-fields': false,
    }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'foos.example.com', generation: 0 },
      spec: {
        preserveUnknownFields: false,
        versions: [{ ...version, additionalPrinterColumns: [printed], schema: { openAPIV3Schema } }],
      },
    }
    const files = new Map(createBundleFiles('foo', createSampleBundle({}, { deployments: [zeros] })))
    files.set('manifests/crd.yaml', new TextEncoder().encode(JSON.stringify(definition)))
    const { objects } = renderPlainManifests(files, { installNamespace: 'operators' })
    const made = (wanted: string) => objects.find(({ kind }) => kind === wanted)?.manifest['spec']
    expect(made('Deployment')).toEqual({
      replicas: 0,
      progressDeadlineSeconds: 0,
      revisionHistoryLimit: 1,
      template: {
        metadata: expect.anything(),
        spec: {
          automountServiceAccountToken: false,
          priority: 0,
          volumes: [
            { name: 'nfs', nfs: { path: '/', server: 's' } },
            { name: 'csi', csi: { driver: 'd', readOnly: false } },
          ],
          containers: [
            {
              name: 'c',
              ports: [{ containerPort: 0 }],
              livenessProbe: { terminationGracePeriodSeconds: 0 },
              securityContext: { privileged: false, runAsUser: 0 },
              volumeMounts: [{ name: 'nfs', mountPath: '/' }],
            },
          ],
        },
      },
    })
    const { priority: _, ...column } = printed
    expect(made('CustomResourceDefinition')).toEqual({
      versions: [
        {
          name: 'v1',
          served: false,
          storage: true,
          additionalPrinterColumns: [column],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { paused: { type: 'boolean', default: false, minimum: 0 } },
              'x-kubernetes-preserve-unknown-fields': false,
            },
          },
        },
      ],
    })
  })

  test('puts its annotations on the pods, with those of the pod template taking precedence', () => {
    const { objects } = renderSampleBundle(createSampleBundle(), { watchNamespaces: ['operators'] })
    expect(objects[0]?.manifest).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'operators', labels: { part: 'manager' } },
      spec: {
        revisionHistoryLimit: 1,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: {
            labels: { app: 'web' },
            annotations: {
              both: 'template',
              own: 'csv',
              'olm.targetNamespaces': 'operators',
              'olm.operatorNamespace': 'operators',
            },
          },
          spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }] },
        },
      },
    })
  })

  test('is rejected with the messages of OLM v1', () => {
    const webhook = { type: 'ValidatingAdmissionWebhook', generateName: 'X-', deploymentName: 'gone' }
    const { objects, rejections, findings } = renderSampleBundle(
      createSampleBundle({ webhookdefinitions: [webhook, webhook] }),
    )
    expect(objects).toEqual([])
    expect(rejections.map(({ message, reportedByRule }) => [message.slice(0, 60), reportedByRule])).toEqual([
      ["webhook of type 'ValidatingAdmissionWebhook' with name 'X-' r", 'broken-webhook'].map((text) =>
        text.slice(0, 60),
      ),
      ["webhook of type 'ValidatingAdmissionWebhook' with name 'X-' r", 'broken-webhook'].map((text) =>
        text.slice(0, 60),
      ),
      ["duplicate webhook 'X-' of type 'ValidatingAdmissionWebhook'", 'duplicate-webhook'],
      ["webhook of type 'ValidatingAdmissionWebhook' has invalid nam", undefined],
    ])
    // Problems that bundle validation reports aren't reported again.
    expect(findings.map(({ rule: id }) => id)).toEqual(['refused-by-olm-v1'])
  })

  test('is rejected if it owns API services, or has webhooks without a certificate provider', () => {
    const services = createSampleBundle({
      apiservicedefinitions: { owned: [{ name: 'a', group: 'g', version: 'v1', kind: 'A' }] },
    })
    expect(renderSampleBundle(services).findings).toHaveLength(1)
    const webhook = { type: 'MutatingAdmissionWebhook', generateName: 'x', deploymentName: 'web' }
    const shape = createSampleBundle({ webhookdefinitions: [webhook] })
    expect(renderSampleBundle(shape, { certificates: 'none' }).rejections).toHaveLength(1)
    expect(formatRenderedObjectNames(renderSampleBundle(shape))).toEqual([
      'Deployment operators web',
      'MutatingWebhookConfiguration operators x',
      'Service operators web-service',
      'Issuer operators web-service-cert-selfsigned-issuer',
      'Certificate operators web-service-cert',
    ])
  })

  test('is rejected without a finding if it cannot watch the requested namespace', () => {
    const { rejections, findings } = renderSampleBundle(createSampleBundle(), { watchNamespaces: ['other'] })
    expect(rejections).toMatchObject([{ isAboutOptions: true }])
    expect(findings).toEqual([])
  })

  test('renders every document of its files, and the items of lists', () => {
    const files = {
      'manifests/two.yaml':
        'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n---\nkind: Secret\napiVersion: v1\nmetadata: {name: b}\n',
      'manifests/list.yaml': { apiVersion: 'v1', kind: 'ServiceList', items: [{ metadata: { name: 'c' } }] },
    }
    expect(formatRenderedObjectNames(renderSampleBundle({ ...createSampleBundle(), files }))).toEqual([
      'Service operators c',
      'ConfigMap operators a',
      'Secret operators b',
      'Deployment operators web',
    ])
  })
})

describe('other formats', () => {
  const text = (content: string) => new TextEncoder().encode(content)

  test('a plain bundle renders unchanged, and braces in it are an open question', () => {
    const files = new Map([
      [
        'manifests/a.yaml',
        text('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "{{ y }}"}'),
      ],
    ])
    const rendering = renderPlainManifests(files, { installNamespace: 'operators' })
    expect(formatRenderedObjectNames(rendering)).toEqual(['ConfigMap a'])
    expect(rendering.open).toHaveLength(1)
  })

  test('a chart renders only its CRDs without Helm, and has an open question', () => {
    const files = new Map([
      ['Chart.yaml', text('apiVersion: v2\nname: a\nversion: 1.0.0\n')],
      ['crds/a.yaml', text(JSON.stringify(createCrd('foos', 'example.com', 'Foo', ['v1'])))],
      ['templates/a.yaml', text('{{ .Values.x }}')],
    ])
    const rendering = renderPlainManifests(files, { installNamespace: 'operators' })
    expect(formatRenderedObjectNames(rendering)).toEqual(['CustomResourceDefinition foos.example.com'])
    expect(rendering.objects[0]?.file).toBe('crds/a.yaml')
    expect(rendering.open).toHaveLength(1)
  })
})

test('hashes are SHA-224', () => {
  fc.assert(
    fc.property(fc.base64String({ maxLength: 200 }), (value) => {
      const digest = BigInt(`0x${createHash('sha224').update(`"${value}"\n`).digest('hex')}`)
      expect(formatObjectNameWithHash('a', value)).toBe(`a-${digest.toString(36)}`)
    }),
  )
})

test('checking a damaged bundle never throws an error', () => {
  const cut = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    byte: fc.nat(255),
  })
  fc.assert(
    fc.property(
      installBundleArbitrary,
      installBundleArbitrary,
      fc.array(cut, { maxLength: 3 }),
      (shape, earlier, cuts) => {
        const [files, before] = [shape, earlier].map(
          (one) =>
            new Map(
              Object.entries(one).map(([path, content]) => {
                const bytes = new TextEncoder().encode(
                  typeof content === 'string' ? content : JSON.stringify(content),
                )
                for (const { at, length, byte } of cuts)
                  bytes.fill(byte, at * bytes.length, at * bytes.length + length)
                return [path, bytes]
              }),
            ),
        )
        if (files && before) checkBundleInstall(files, { installNamespace: 'operators' }, before)
      },
    ),
    { numRuns: 150 },
  )
})
