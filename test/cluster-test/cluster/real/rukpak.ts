// Install tests with the real provisioners of both RukPak versions: plain manifests, a registry bundle, a chart; the
// pivot of an upgrade; an immutable Bundle; an Operator that does not run; a missing image; and a clean cluster
// afterward.
import { startRukPak } from '../control-plane/start-controllers.ts'
import { deploymentObserver, findMissingClusterObservations, observeCluster } from './observe-cluster.ts'
import { getClusterTestFailureCode } from './olm-v0.ts'
import type { ClusterStoryContext } from './cluster-stories.ts'

export async function runRukPakStories(
  scene: ClusterStoryContext,
  version: 'rukpak' | 'rukpak-v1alpha1',
): Promise<void> {
  const { plane, testImages, claim, claimClean, runClusterTest, catalogBot } = scene
  const { host } = testImages.registry
  scene.startSection(await startRukPak(plane, version))
  const install = (packageName: string, kind: string, ...more: string[]) =>
    catalogBot(
      ...['install', testImages.folderOf('head'), '--package', packageName, '--with', `rukpak-${kind}`],
      ...[
        '--insecure-registry',
        host,
        '--kubeconfig',
        plane.clusterTestKubeconfig,
        '--catalog-host',
        '127.0.0.1',
      ],
      ...more,
    )
  for (const [kind, name] of [
    ['registry', 'solo'],
    ['plain', 'flat'],
    ['helm', 'charted'],
  ] as const) {
    const { result: tried, facts } = await observeCluster(plane, [deploymentObserver], () =>
      install(name, kind, '--upgrade-from', testImages.folderOf('base')),
    )
    const wanted = ['1.0.0', '1.1.0'].map(
      (one) => `Deployment runs registry.example/${name}:${kind === 'registry' ? one : `${name}.v${one}`}`,
    )
    claim(
      `the API server has the Deployments of both bundles of ${name} available`,
      findMissingClusterObservations(facts, wanted).length === 0,
      facts.join('\n'),
    )
    const isThere = new RegExp(`upgrade ${name}.v1.0.0 → ${name}.v1.1.0: installs`).test(tried.out)
    claim(
      `the ${kind} provisioner installs, and pivots to the next bundle`,
      tried.code === 0 && isThere,
      tried.out,
    )
    if (version === 'rukpak-v1alpha1')
      claim(
        'the API refuses to change its Bundle in its place',
        tried.out.includes('rejects an in-place change of a Bundle'),
        tried.out.split('\n').find((line) => line.includes('in-place')) ?? 'not said',
      )
    await claimClean(name)
  }
  const failing = await install('shaky', 'plain')
  claim(
    'an Operator with an image that does not exist does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await claimClean('it')
  const nowhere = `${host}/bundles/flat@sha256:${'0'.repeat(64)}`
  const missing = await runClusterTest(
    {
      target: 'RukPak plain',
      package: 'flat',
      steps: [{ root: 'flat.v9.0.0', version: '9.0.0', names: ['flat.v9.0.0'], image: nowhere }],
    },
    { catalog: { image: '' } },
    { retryWindow: 15_000, extension: 60_000 },
  )
  claim(
    'a bundle image that does not exist is reported as missing',
    getClusterTestFailureCode(missing.report) === 'bundle-image-missing',
    missing.message,
  )
  const wrongKind = await runClusterTest(
    {
      target: 'RukPak helm',
      package: 'flat',
      steps: [
        {
          root: 'flat.v1.0.0',
          version: '1.0.0',
          names: ['flat.v1.0.0'],
          image: testImages.images.get('flat.v1.0.0') ?? '',
        },
      ],
    },
    { catalog: { image: '' } },
    { retryWindow: 15_000, extension: 60_000 },
  )
  claim(
    'manifests that are no chart are refused by the provisioner of charts',
    ['refused-by-rukpak', 'unpack-failed'].includes(getClusterTestFailureCode(wrongKind.report) ?? ''),
    wrongKind.message,
  )
  await claimClean('these')
}
