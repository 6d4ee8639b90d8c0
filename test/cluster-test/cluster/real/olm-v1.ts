// Install tests with the real controllers of OLM v1, from catalog images that our publisher builds: install and
// upgrade, an Operator that does not run, a missing package, a dependency (OLM v1 resolves none), and invalid images.
import { startOlmV1 } from '../control-plane/start-controllers.ts'
import {
  crdObserver,
  deploymentObserver,
  clusterExtensionObserver,
  findMissingClusterObservations,
  observeCluster,
} from './observe-cluster.ts'
import { getClusterTestFailureCode } from './olm-v0.ts'
import type { ClusterStoryContext } from './cluster-stories.ts'

const olmV1TargetName = 'OLM v1'
const createUpgradeTestStep = (root: string) => ({ root, version: root.split('.v')[1] ?? '', names: [root] })

export async function runOlmV1Stories(scene: ClusterStoryContext): Promise<void> {
  const { plane, testImages, claim, claimClean, runClusterTest, catalogBot } = scene
  const { host } = testImages.registry
  scene.startSection(await startOlmV1(plane, host))
  const insecure = ['--insecure-registry', host]
  for (const side of ['base', 'head']) {
    const built = await catalogBot(
      ...['build', testImages.folderOf(side), '--base-image', 'scratch', '--no-serve-cache'],
      ...['--tag', `${host}/catalog:${side}`, '--push', '--no-provenance', ...insecure],
    )
    claim(`our publisher makes the image of the ${side}'s catalog`, built.code === 0, built.out)
  }
  const install = (packageName: string, ...more: string[]) =>
    catalogBot(
      ...['install', `${host}/catalog:head`, '--package', packageName, '--with', 'olm-v1', ...insecure],
      ...['--kubeconfig', plane.clusterTestKubeconfig, ...more],
    )
  const seen = [clusterExtensionObserver, deploymentObserver, crdObserver]
  const { result: tried, facts } = await observeCluster(plane, seen, () =>
    install('solo', '--upgrade-from', `${host}/catalog:base`),
  )
  const wanted = ['1.0.0', '1.1.0'].flatMap((version) => [
    `ClusterExtension has solo.v${version} ${version}`,
    `Deployment runs registry.example/solo:${version}`,
  ])
  claim(
    'the API server has each of both bundles installed, and the Deployment of each available',
    findMissingClusterObservations(facts, wanted).length === 0,
    facts.join('\n'),
  )
  claim(
    'our command installs and upgrades',
    tried.code === 0 && /upgrade solo.v1.0.0 → solo.v1.1.0: installs/.test(tried.out),
    tried.out,
  )
  await claimClean('the trials')
  const owning = await observeCluster(plane, seen, () => install('red'))
  claim(
    'the API server has the CRD of a bundle that owns one, established, and the bundle installed',
    owning.result.code === 0 &&
      findMissingClusterObservations(owning.facts, [
        'CRD reds.example.com is established',
        'ClusterExtension has red.v1.0.0 1.0.0',
      ]).length === 0,
    owning.facts.join('\n'),
  )
  await claimClean('it, its CRD included')
  const failing = await install('broken')
  claim(
    'an Operator whose image nobody has does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await claimClean('it')

  const catalogSource = { catalog: { image: `${host}/catalog:head` } }
  const quick = { retryWindow: 20_000, catalog: 30_000, extension: 60_000 }
  const lonely = await runClusterTest(
    { target: olmV1TargetName, package: 'lonely', steps: [createUpgradeTestStep('lonely.v1.0.0')] },
    catalogSource,
    quick,
  )
  claim(
    'a dependency is refused by OLM v1, which resolves none',
    getClusterTestFailureCode(lonely.report) === 'refused-by-olm-v1',
    lonely.message,
  )
  const absent = await runClusterTest(
    { target: olmV1TargetName, package: 'nothing', steps: [createUpgradeTestStep('nothing.v1.0.0')] },
    catalogSource,
    quick,
  )
  claim(
    "a package that the catalog does not have is the resolution's no",
    getClusterTestFailureCode(absent.report) === 'resolution-unsatisfiable',
    absent.message,
  )
  const other = await runClusterTest(
    { target: olmV1TargetName, package: 'solo', steps: [createUpgradeTestStep('solo.v1.0.0')] },
    catalogSource,
    quick,
  )
  claim(
    'another bundle than the simulated one is none that installs',
    getClusterTestFailureCode(other.report) === 'resolver-mismatch',
    other.message,
  )
  const missing = await runClusterTest(
    { target: olmV1TargetName, package: 'solo', steps: [createUpgradeTestStep('solo.v1.1.0')] },
    { catalog: { image: `${host}/catalog:none` } },
    quick,
  )
  claim(
    'a catalog image that is not there is said to be missing',
    getClusterTestFailureCode(missing.report) === 'catalog-image-missing',
    missing.message,
  )
  const noCatalog = await runClusterTest(
    { target: olmV1TargetName, package: 'solo', steps: [createUpgradeTestStep('solo.v1.1.0')] },
    { catalog: { image: testImages.images.get('solo.v1.0.0') ?? '' } },
    quick,
  )
  claim(
    "an image that is no catalog is the image's fault",
    getClusterTestFailureCode(noCatalog.report) === 'catalog-invalid',
    noCatalog.message,
  )
  await claimClean('these')
}
