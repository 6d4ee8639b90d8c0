// `install --kubeconfig` without its output: the plan from the simulation, the objects on the cluster, and the result.
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import {
  analyzeBundleInstall,
  type BundleContentForInstall,
} from '../../../src/checks/install/install-analysis.ts'
import { CatalogUnderTest } from '../../../src/checks/install/resolutions.ts'
import { planInstallSimulation } from '../../../src/checks/install/simulate-install.ts'
import type { InstallTarget } from '../../../src/checks/install/install-report.ts'
import { readCatalogToInstall } from '../../../src/cli/install-catalog.ts'
import { installOnCluster, type ClusterInstallResult } from '../../../src/cli/install-on-cluster.ts'
import { createSmallBundle } from '../../checks/install/small-bundle.ts'
import { parseCatalogBlobsFromLines } from '../../checks/install/parse-catalog-lines.ts'
import { startFakeApiServer, FakeKubernetesApi } from './fake-kubernetes-api.ts'
import { simulateOlmV0 } from './fake-olm.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'
import { writeFiles } from '../../write-files.ts'

const temporaryDirectory = createSelfRemovingDirectory('install-on-cluster')
let fakeKubernetesApi: FakeKubernetesApi

const fakeApiServer = await startFakeApiServer()
beforeAll(async () => {
  const writeTestFile = (path: string, text: string) => writeFiles(temporaryDirectory, { [path]: text })
  const catalog = (lines: readonly string[]) =>
    parseCatalogBlobsFromLines(lines)
      .map((blob) => JSON.stringify(blob))
      .join('\n')
  const before = ['foo/stable 1.0.0', 'foo 1.0.0 needs Red', 'red/stable 1.0.0', 'red 1.0.0 gives Red']
  writeTestFile('base/catalog.json', catalog(before))
  writeTestFile(
    'head/catalog.json',
    catalog([...before, 'foo/stable 1.1.0 replaces 1.0.0', 'foo 1.1.0 needs Red']),
  )
  writeTestFile('kubeconfig', fakeApiServer.kubeconfig)
})
afterAll(() => fakeApiServer.close())
beforeEach(() => {
  fakeKubernetesApi = new FakeKubernetesApi()
  fakeApiServer.api = fakeKubernetesApi
})

async function runInstallOnCluster({
  wanted = [],
}: { readonly wanted?: readonly InstallTarget[] } = {}): Promise<ClusterInstallResult> {
  const main = await readCatalogToInstall(join(temporaryDirectory, 'head'), undefined)
  const before = await readCatalogToInstall(join(temporaryDirectory, 'base'), undefined)
  const test = new CatalogUnderTest(main.catalog, before.catalog)
  const plan = planInstallSimulation(
    { catalog: main.catalog, base: before.catalog, package: 'foo', channels: ['stable'] },
    test,
  )
  const content: BundleContentForInstall = {
    kind: 'bundle',
    from: 'image',
    facts: analyzeBundleInstall(createSmallBundle('foo.v1.1.0', 'foo'), { labels: {} }),
  }
  return installOnCluster(
    {
      plan,
      test,
      main: { catalog: main },
      base: { catalog: before },
      contents: new Map(plan.bundlesToOpen.map((blob) => [blob, content])),
      wanted,
      simulated: new Map<string, readonly InstallTarget[]>([['stable', ['OLM v0', 'OLM v1']]]),
    },
    { kubeconfig: join(temporaryDirectory, 'kubeconfig'), catalogHost: '127.0.0.1' },
    { clock: fakeKubernetesApi.clock, print: () => undefined },
  )
}

test('a new install and the upgrade from the base are tested with their dependencies, and our server serves both catalogs', async () => {
  // The second test starts after the first one has ended.
  simulateOlmV0(fakeKubernetesApi, { plans: [['foo.v1.1.0', 'red.v1.0.0']] })
  fakeKubernetesApi.controllers.push(() => {
    if (fakeKubernetesApi.list('Namespace').length > 0 || fakeKubernetesApi.controllers.length > 2) return
    fakeKubernetesApi.controllers = []
    simulateOlmV0(fakeKubernetesApi, { plans: [['foo.v1.0.0', 'red.v1.0.0'], ['foo.v1.1.0']] })
  })
  const clusterInstall = await runInstallOnCluster()
  expect(clusterInstall.trials.map(({ steps, outcome }) => ({ steps, outcome }))).toEqual([
    { steps: ['foo.v1.1.0'], outcome: { verdict: 'installs' } },
    { steps: ['foo.v1.0.0', 'foo.v1.1.0'], outcome: { verdict: 'installs' } },
  ])
  expect(clusterInstall).toMatchObject({
    installs: 'yes',
    notTried: [{ target: 'OLM v1', why: 'the cluster does not serve the API of this target' }],
  })
  const addresses = fakeKubernetesApi.requests
    .map(({ body }) => (body as { spec?: { address?: string } } | undefined)?.spec?.address)
    .filter((address) => address !== undefined)
  // The head for the install; for the upgrade the base, and then the head.
  expect(addresses.map((address) => address.replace(/:\d+$/, ''))).toEqual([
    '127.0.0.1',
    '127.0.0.1',
    '127.0.0.1',
  ])
  expect(addresses[2]).toBe(addresses[0])
  expect(addresses[1]).not.toBe(addresses[0])
})

test('one failed test is a no, and a requested target that could not be tested is inconclusive', async () => {
  simulateOlmV0(fakeKubernetesApi, { plans: [['foo.v1.1.0', 'red.v9.0.0']] })
  expect(await runInstallOnCluster()).toMatchObject({
    installs: 'no',
    trials: [{ outcome: { code: 'resolver-mismatch' } }, {}],
  })
  fakeApiServer.api = fakeKubernetesApi = new FakeKubernetesApi()
  expect(await runInstallOnCluster({ wanted: ['OLM v1'] })).toMatchObject({ installs: 'unknown', trials: [] })
})
