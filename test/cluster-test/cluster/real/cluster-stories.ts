// One control plane and the test images in a registry: the setup that all stories share.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import {
  defaultClusterTestDeadlines,
  type ClusterTestDeadlines,
} from '../../../../src/checks/install/cluster-test/cluster-test-state.ts'
import type { PlannedClusterTest } from '../../../../src/checks/install/cluster-test/cluster-test-plan.ts'
import type { ClusterTestReport } from '../../../../src/checks/install/cluster-test/cluster-test-report.ts'
import type { KubeClusterClient } from '../../../../src/cluster-test/cluster/cluster.ts'
import {
  buildClusterTestPlan,
  type ClusterTestEnvironment,
  runClusterTest,
} from '../../../../src/cluster-test/cluster/run-cluster-tests.ts'
import { createKubeClusterClient } from '../../../../src/cluster-test/cluster/open-cluster.ts'
import { systemClock } from '../../../../src/adapters/system-clock.ts'
import { describeClusterTests } from '../../../../src/report/cluster-test-check.ts'
import { startRealRegistry, type RealRegistry } from '../../../adapters/registry/real-registry.ts'
import { createTarOfFiles } from '../../../adapters/registry/tar-writer.ts'
import { startFakeKubelet, type FakeKubelet } from '../control-plane/fake-kubelet.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/start-control-plane.ts'
import {
  createClusterTestBundles,
  renderClusterTestCatalog,
  type ClusterTestBundle,
} from '../control-plane/cluster-test-bundles.ts'
import type { AssertionRecorder } from './assertions.ts'
import { writeFiles } from '../../../write-files.ts'

/** The test images in a registry, and their files on this disk. */
export interface ClusterTestImages {
  readonly registry: RealRegistry
  readonly images: ReadonlyMap<string, string>
  /** The folder of a bundle, or of one of the two catalogs. */
  folderOf(name: string): string
  readonly bundles: readonly ClusterTestBundle[]
}

export async function publishClusterTestImages(folder: string): Promise<ClusterTestImages> {
  const registry = await startRealRegistry()
  const bundles = createClusterTestBundles()
  const images = new Map<string, string>()
  const writeTestFile = (path: string, content: Uint8Array | string) =>
    writeFiles(folder, { [path]: content })
  for (const { name, package: repository, labels, files } of bundles) {
    const digest = await registry.push(
      { layers: [createTarOfFiles(Object.fromEntries(files))], labels },
      `bundles/${repository}:${name}`,
    )
    images.set(name, `${registry.host}/bundles/${repository}@${digest}`)
    writeFiles(join(folder, name), files)
  }
  for (const side of ['base', 'head'] as const)
    writeTestFile(`${side}/catalog.json`, renderClusterTestCatalog(side, images))
  return { registry, images, bundles, folderOf: (name) => join(folder, name) }
}

export interface ClusterStoryContext extends Omit<AssertionRecorder, 'wrong' | 'table'> {
  readonly plane: ControlPlane
  readonly testImages: ClusterTestImages
  readonly kubelet: FakeKubelet
  /** With the permissions of install tests. */
  readonly cluster: KubeClusterClient
  /** Our command, as users run it. */
  readonly catalogBot: (
    ...parameters: string[]
  ) => Promise<{ readonly code: number | null; readonly out: string }>
  /** Runs one install test as the App would. Returns its report and the message for users. */
  readonly runClusterTest: (
    planned: Omit<PlannedClusterTest, 'mode' | 'channel' | 'crds' | 'isUpgrade'> &
      Partial<PlannedClusterTest>,
    place: ClusterTestEnvironment,
    deadlines?: Partial<ClusterTestDeadlines>,
  ) => Promise<{ readonly report: ClusterTestReport; readonly message: string }>
  /** Claims that no install test left anything on the cluster. */
  readonly claimClean: (after: string) => Promise<void>
}

/** Runs stories on a separate control plane. */
export async function runStoriesOnControlPlane(
  {
    built,
    folder,
    say: log,
  }: { readonly built: string; readonly folder: string; readonly say: (line: string) => void },
  testImages: ClusterTestImages,
  claims: AssertionRecorder,
  stories: (scene: ClusterStoryContext) => Promise<void>,
): Promise<void> {
  const plane = await startControlPlane({ built, folder, log })
  const closing: (() => Promise<unknown>)[] = [() => plane.close()]
  const onSignal = () => void plane.close().finally(() => process.exit(1))
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    const kubelet = await startFakeKubelet({
      plane,
      opm: join(built, 'bin', 'opm'),
      bundles: new Map([...testImages.images].map(([name, image]) => [image, testImages.folderOf(name)])),
    })
    closing.push(() => kubelet.close())
    const cluster = await createKubeClusterClient({ file: plane.clusterTestKubeconfig, clock: systemClock })
    closing.push(() => cluster.close())
    await stories({
      ...claims,
      plane,
      testImages,
      kubelet,
      cluster,
      catalogBot: runCatalogBot,
      async runClusterTest(planned, catalogSource, deadlines) {
        const report = await runClusterTest(
          buildClusterTestPlan(
            { mode: 'AllNamespaces', channel: 'stable', crds: [], isUpgrade: false, ...planned },
            catalogSource,
            defaultClusterTestDeadlines,
            systemClock.now(),
          ),
          { cluster, clock: systemClock, deadlines: { ...defaultClusterTestDeadlines, ...deadlines } },
        )
        return { report, message: describeClusterTests([report]) }
      },
      async claimClean(after) {
        const left = await findLeftoverClusterObjects(plane)
        claims.claim(`nothing is left of ${after}`, left === 'nothing', left)
      },
    })
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    for (const close of closing.toReversed()) await close()
  }
}

export async function findLeftoverClusterObjects(plane: Pick<ControlPlane, 'ask'>): Promise<string> {
  const names = async (path: string, isOurs: (name: string) => boolean = () => true) => {
    const { status, body } = await plane.ask('GET', path)
    // 404 means that the API is not on this cluster. Any other error may hide leftovers.
    if (status === 404) return []
    if (status !== 200) return [`${path}: ${status}`]
    return ((body['items'] ?? []) as { kind?: string; metadata: { name: string } }[])
      .map(({ metadata }) => metadata.name)
      .filter(isOurs)
      .map((name) => `${path.split('/').at(-1)?.replace(/\?.*/, '')}/${name}`)
  }
  const own = new Set(['catalog-bot', 'default', 'kube-node-lease', 'kube-public', 'kube-system'])
  const controllers = new Set(['olm', 'operators', 'olmv1-system', 'rukpak-system'])
  const found = [
    ...(await names('/api/v1/namespaces', (name) => !own.has(name) && !controllers.has(name))),
    ...(await names('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', (name) =>
      name.endsWith('.example.com'),
    )),
    ...(await names('/apis/operators.coreos.com/v1alpha1/clusterserviceversions')),
    ...(await names('/apis/olm.operatorframework.io/v1/clustercatalogs')),
    ...(await names('/apis/olm.operatorframework.io/v1/clusterextensions')),
    ...(await names('/apis/core.rukpak.io/v1alpha1/bundles')),
    ...(await names('/apis/core.rukpak.io/v1alpha1/bundledeployments')),
    ...(await names('/apis/core.rukpak.io/v1alpha2/bundledeployments')),
    ...(await names('/apis/apps/v1/deployments')),
    ...(await names('/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=olm.owner')),
    ...(await names(
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?labelSelector=catalog-bot.io/trial',
    )),
  ]
  return found.length === 0 ? 'nothing' : found.join(', ')
}

function runCatalogBot(
  ...parameters: string[]
): Promise<{ readonly code: number | null; readonly out: string }> {
  const program = join(import.meta.dirname, '..', '..', '..', '..', 'src', 'cli.ts')
  const child = spawn(process.execPath, ['--no-warnings', program, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let output = ''
  child.stdout.on('data', (part: Buffer) => (out += part.toString('utf8')))
  child.stderr.on('data', (part: Buffer) => (output += part.toString('utf8')))
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code, out: out === '' ? output : out })),
  )
}
