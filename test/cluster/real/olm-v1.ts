// Trials with OLM v1's own controllers, from catalog images that our publisher makes: install and upgrade, an Operator that does
// not run, a package that is not there, a dependency, which OLM v1 does not resolve, images that are none.
import { startOlmV1 } from '../control-plane/start-controllers.ts'
import { crds, deployments, extensions, missingIn, observing } from './observe.ts'
import { codeOf } from './olm-v0.ts'
import type { Scene } from './scene.ts'

const target = 'OLM v1'
const step = (root: string) => ({ root, version: root.split('.v')[1] ?? '', names: [root] })

export async function olmV1Stories(scene: Scene): Promise<void> {
  const { plane, world, claim, isClean, trial, catalogBot } = scene
  const { host } = world.registry
  scene.about(await startOlmV1(plane, host))
  const insecure = ['--insecure-registry', host]
  for (const side of ['base', 'head']) {
    const built = await catalogBot(
      ...['build', world.folderOf(side), '--base-image', 'scratch', '--no-serve-cache'],
      ...['--tag', `${host}/catalog:${side}`, '--push', '--no-provenance', ...insecure],
    )
    claim(`our publisher makes the image of the ${side}'s catalog`, built.code === 0, built.out)
  }
  const install = (packageName: string, ...more: string[]) =>
    catalogBot(
      ...['install', `${host}/catalog:head`, '--package', packageName, '--with', 'olm-v1', ...insecure],
      ...['--kubeconfig', plane.trialKubeconfig, ...more],
    )
  const seen = [extensions, deployments, crds]
  const { result: tried, facts } = await observing(plane, seen, () =>
    install('solo', '--upgrade-from', `${host}/catalog:base`),
  )
  const wanted = ['1.0.0', '1.1.0'].flatMap((version) => [
    `ClusterExtension has solo.v${version} ${version}`,
    `Deployment runs registry.example/solo:solo.v${version}`,
  ])
  claim(
    'the API server has each of both bundles installed, and the Deployment of each available',
    missingIn(facts, wanted).length === 0,
    facts.join('\n'),
  )
  claim(
    'our command installs and upgrades',
    tried.code === 0 && /upgrade solo.v1.0.0 → solo.v1.1.0: installs/.test(tried.out),
    tried.out,
  )
  await isClean('the trials')
  const owning = await observing(plane, seen, () => install('red'))
  claim(
    'the API server has the CRD of a bundle that owns one, established, and the bundle installed',
    owning.result.code === 0 &&
      missingIn(owning.facts, [
        'CRD reds.example.com is established',
        'ClusterExtension has red.v1.0.0 1.0.0',
      ]).length === 0,
    owning.facts.join('\n'),
  )
  await isClean('it, its CRD included')
  const failing = await install('broken')
  claim(
    'an Operator whose image nobody has does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await isClean('it')

  const place = { catalog: { image: `${host}/catalog:head` } }
  const quick = { patience: 20_000, catalog: 30_000, extension: 60_000 }
  const lonely = await trial({ target, package: 'lonely', steps: [step('lonely.v1.0.0')] }, place, quick)
  claim(
    'a dependency is refused by OLM v1, which resolves none',
    codeOf(lonely.report) === 'refused-by-olm-v1',
    lonely.told,
  )
  const absent = await trial({ target, package: 'nothing', steps: [step('nothing.v1.0.0')] }, place, quick)
  claim(
    "a package that the catalog does not have is the resolution's no",
    codeOf(absent.report) === 'resolution-unsatisfiable',
    absent.told,
  )
  const other = await trial({ target, package: 'solo', steps: [step('solo.v1.0.0')] }, place, quick)
  claim(
    'another bundle than the simulated one is none that installs',
    codeOf(other.report) === 'resolver-mismatch',
    other.told,
  )
  const missing = await trial(
    { target, package: 'solo', steps: [step('solo.v1.1.0')] },
    { catalog: { image: `${host}/catalog:none` } },
    quick,
  )
  claim(
    'a catalog image that is not there is said to be missing',
    codeOf(missing.report) === 'catalog-image-missing',
    missing.told,
  )
  const noCatalog = await trial(
    { target, package: 'solo', steps: [step('solo.v1.1.0')] },
    { catalog: { image: world.images.get('solo.v1.0.0') ?? '' } },
    quick,
  )
  claim(
    "an image that is no catalog is the image's fault",
    codeOf(noCatalog.report) === 'catalog-invalid',
    noCatalog.told,
  )
  await isClean('these')
}
