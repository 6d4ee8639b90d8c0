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
    'an Operator with an image that does not exist does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await claimClean('it')

  const quick = { retryWindow: 20_000, catalog: 30_000, extension: 60_000 }
  const head = `${host}/catalog:head`
  const failures = [
    ['a dependency is refused by OLM v1, which resolves none', 'refused-by-olm-v1', 'lonely.v1.0.0', head],
    [
      "a package that the catalog does not have is the resolution's no",
      'resolution-unsatisfiable',
      'nothing.v1.0.0',
      head,
    ],
    ['another bundle than the simulated one is none that installs', 'resolver-mismatch', 'solo.v1.0.0', head],
    [
      'a catalog image that is not there is said to be missing',
      'catalog-image-missing',
      'solo.v1.1.0',
      `${host}/catalog:none`,
    ],
    [
      "an image that is no catalog is the image's fault",
      'catalog-invalid',
      'solo.v1.1.0',
      testImages.images.get('solo.v1.0.0') ?? '',
    ],
  ] as const
  for (const [text, code, root, image] of failures) {
    const [packageName = '', version = ''] = root.split('.v')
    const { report, message } = await runClusterTest(
      { target: 'OLM v1', package: packageName, steps: [{ root, version, names: [root] }] },
      { catalog: { image } },
      quick,
    )
    claim(text, getClusterTestFailureCode(report) === code, message)
  }
  await claimClean('these')
}
