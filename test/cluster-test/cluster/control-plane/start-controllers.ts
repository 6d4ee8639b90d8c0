// Starts released installers for the control plane, outside the cluster: both operators of OLM v0, catalogd and
// operator-controller of OLM v1, and the provisioners of both RukPak versions. Reads their CRDs and webhooks from their
// modules.
import { cpSync, mkdirSync, writeFileSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  findFreePorts,
  readKubernetesManifests,
  type KubernetesManifest,
  type ControlPlane,
} from './start-control-plane.ts'

export async function startOlmV0(plane: ControlPlane): Promise<string> {
  const { built, kubeconfig } = plane
  await plane.applyFolder(join(built, 'crds', 'olm'))
  for (const name of ['olm', 'operators']) await plane.apply(createNamespace(name))
  await plane.ready(
    'the API of OLM v0',
    async () => (await plane.ask('GET', '/apis/operators.coreos.com/v1/olmconfigs')).status === 200,
  )
  await plane.apply({
    apiVersion: 'operators.coreos.com/v1',
    kind: 'OLMConfig',
    metadata: { name: 'cluster' },
    spec: { features: { disableCopiedCSVs: true } },
  })
  // They exit once, after they labeled the existing objects.
  const again = true
  plane.start(
    'catalog',
    join(built, 'bin', 'catalog'),
    [
      `--kubeconfig=${kubeconfig}`,
      '--namespace=olm',
      '--writeStatusName=',
      '--opmImage=opm',
      '--util-image=util',
      '--configmapServerImage=none',
      '--bundle-unpack-timeout=60s',
      '--install-plan-retry-timeout=10s',
      '--debug',
    ],
    { again },
  )
  plane.start(
    'olm',
    join(built, 'bin', 'olm'),
    [
      '--namespace=olm',
      '--watchedNamespaces=',
      '--writeStatusName=',
      '--writePackageServerStatusName=',
      '--debug',
    ],
    { again, env: { KUBECONFIG: kubeconfig } },
  )
  return readGoModuleVersion('olm', 'operator-lifecycle-manager')
}

/** @param registry a registry on loopback without TLS */
export async function startOlmV1(plane: ControlPlane, registry: string): Promise<string> {
  const { built, folder, kubeconfig } = plane
  await plane.applyFolder(join(built, 'crds', 'olm-v1'))
  await plane.apply(createNamespace('olmv1-system'))
  const inFolder = (name: string) => join(folder, name)
  const [content, metrics, webhook, probe, otherProbe] = await findFreePorts(5)
  mkdirSync(inFolder('authorities'))
  cpSync(inFolder('ca.crt'), join(inFolder('authorities'), 'ca.crt'))
  // Podman, and programs built with its libraries, read this folder.
  mkdirSync(inFolder('.config/containers'), { recursive: true })
  writeFileSync(
    inFolder('.config/containers/registries.conf'),
    `[[registry]]\nlocation = "${registry}"\ninsecure = true\n`,
  )
  writeFileSync(
    inFolder('.config/containers/policy.json'),
    JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }),
  )
  const env = { KUBECONFIG: kubeconfig, TMPDIR: folder }
  plane.start(
    'catalogd',
    join(built, 'bin', 'catalogd'),
    [
      '--system-namespace=olmv1-system',
      `--tls-cert=${inFolder('server.crt')}`,
      `--tls-key=${inFolder('server.key')}`,
      `--catalogs-server-addr=127.0.0.1:${content}`,
      `--external-address=127.0.0.1:${content}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--health-probe-bind-address=127.0.0.1:${probe}`,
      `--webhook-server-port=${webhook}`,
      `--cache-dir=${inFolder('catalogd')}`,
    ],
    { env },
  )
  plane.start(
    'operator-controller',
    join(built, 'bin', 'operator-controller'),
    [
      '--system-namespace=olmv1-system',
      `--catalogd-cas-dir=${inFolder('authorities')}`,
      `--health-probe-bind-address=127.0.0.1:${otherProbe}`,
      `--cache-path=${inFolder('operator-controller')}`,
    ],
    { env },
  )
  await waitUntilControllerReady(plane, 'catalogd', probe)
  await waitUntilControllerReady(plane, 'operator-controller', otherProbe)
  await applyWebhookConfigurations(plane, 'olm-v1', webhook)
  return readGoModuleVersion('olm-v1', 'operator-controller')
}

/** `core.rukpak.io/v1alpha2` and `v1alpha1` cannot share a cluster, because they have the same CRDs. */
export async function startRukPak(
  plane: ControlPlane,
  version: 'rukpak' | 'rukpak-v1alpha1',
): Promise<string> {
  const { built, folder, kubeconfig } = plane
  await plane.applyFolder(join(built, 'crds', version))
  await plane.apply(createNamespace('rukpak-system'))
  const bin = (name: string) => join(built, 'bin', version, name)
  const inFolder = (name: string) => join(folder, name)
  const [core, helm, coreProbe, helmProbe] = await findFreePorts(4)
  const flags = (port: number | undefined, probe: number | undefined) => [
    `--http-bind-address=127.0.0.1:${port}`,
    `--http-external-address=http://127.0.0.1:${port}`,
    `--health-probe-bind-address=127.0.0.1:${probe}`,
    '--system-namespace=rukpak-system',
  ]
  const env = { KUBECONFIG: kubeconfig, TMPDIR: folder }
  // The container images of RukPak contain these folders.
  for (const name of ['core', 'helm', 'uploads', 'core-cache', 'helm-cache'])
    mkdirSync(inFolder(`rukpak-${name}`), { recursive: true })
  const isFirst = version === 'rukpak-v1alpha1'
  plane.start(
    'rukpak-core',
    bin('core'),
    [
      ...flags(core, coreProbe),
      `--provisioner-storage-dir=${inFolder('rukpak-core')}`,
      isFirst
        ? `--upload-storage-dir=${inFolder('rukpak-uploads')}`
        : `--unpack-cache-dir=${inFolder('rukpak-core-cache')}`,
    ],
    { env },
  )
  plane.start(
    'rukpak-helm',
    bin('helm'),
    [
      ...flags(helm, helmProbe),
      `--storage-dir=${inFolder('rukpak-helm')}`,
      ...(isFirst ? [] : [`--unpack-cache-dir=${inFolder('rukpak-helm-cache')}`]),
    ],
    { env },
  )
  await waitUntilControllerReady(plane, 'rukpak core', coreProbe)
  await waitUntilControllerReady(plane, 'rukpak helm', helmProbe)
  if (isFirst) {
    const certificates = inFolder('k8s-webhook-server/serving-certs')
    mkdirSync(certificates, { recursive: true })
    cpSync(inFolder('server.crt'), join(certificates, 'tls.crt'))
    cpSync(inFolder('server.key'), join(certificates, 'tls.key'))
    const [metrics, probe] = await findFreePorts(2)
    plane.start(
      'rukpak-webhooks',
      bin('webhooks'),
      [
        `--metrics-bind-address=127.0.0.1:${metrics}`,
        `--health-probe-bind-address=127.0.0.1:${probe}`,
        '--system-namespace=rukpak-system',
      ],
      { env },
    )
    await waitUntilControllerReady(plane, 'rukpak webhooks', probe)
    // It has no flag for its port.
    await applyWebhookConfigurations(plane, version, 9443)
  }
  return readGoModuleVersion(version, 'rukpak')
}

const createNamespace = (name: string): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})

async function waitUntilControllerReady(
  plane: ControlPlane,
  what: string,
  port: number | undefined,
): Promise<void> {
  await plane.ready(what, async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok)
}

interface WebhookDefinition {
  readonly name: string
  readonly clientConfig: { readonly service: { readonly path: string } }
}

/** Applies the webhooks of the module, with an address instead of a Service. */
async function applyWebhookConfigurations(
  plane: ControlPlane,
  part: string,
  port: number | undefined,
): Promise<void> {
  const caBundle = readFileSync(join(plane.folder, 'ca.crt')).toString('base64')
  const folder = join(plane.built, 'webhooks', part)
  for (const object of readdirSync(folder).flatMap((file) => readKubernetesManifests(join(folder, file)))) {
    const webhooks = object['webhooks'] as readonly WebhookDefinition[]
    await plane.apply({
      ...object,
      metadata: { name: `${part}-${object.metadata.name}` },
      webhooks: webhooks.map(({ clientConfig, ...webhook }) => ({
        ...webhook,
        clientConfig: { url: `https://127.0.0.1:${port}${clientConfig.service.path}`, caBundle },
        // As in its overlay: RukPak guards only the ConfigMaps in its namespace.
        ...(webhook.name.startsWith('vconfigmaps') && {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'rukpak-system' } },
        }),
      })),
    })
  }
}

/** The name and the version that go.mod pins, such as `rukpak v0.13.0`. */
function readGoModuleVersion(part: string, name: string): string {
  const text = readFileSync(join(import.meta.dirname, part, 'go.mod'), 'utf8')
  return `${name} ${new RegExp(`operator-framework/${name} (v[^ \\n]+)`).exec(text)?.[1] ?? ''}`
}
