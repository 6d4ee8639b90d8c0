// Trials with RukPak's own provisioners, of both of its versions: plain manifests, a registry bundle, a chart; the pivot of an
// upgrade; what cannot be changed in its place; an Operator that does not run, an image that nobody has; a clean cluster.
import { startRukPak } from '../control-plane/start-controllers.ts'
import { deployments, missingIn, observing } from './observe.ts'
import { codeOf } from './olm-v0.ts'
import type { Scene } from './scene.ts'

export async function rukPakStories(scene: Scene, version: 'rukpak' | 'rukpak-v1alpha1'): Promise<void> {
  const { plane, world, claim, isClean, trial, catalogBot } = scene
  const { host } = world.registry
  scene.about(await startRukPak(plane, version))
  const install = (packageName: string, kind: string, ...more: string[]) =>
    catalogBot(
      ...['install', world.folderOf('head'), '--package', packageName, '--with', `rukpak-${kind}`],
      ...['--insecure-registry', host, '--kubeconfig', plane.trialKubeconfig, '--catalog-host', '127.0.0.1'],
      ...more,
    )
  for (const [kind, name] of [
    ['registry', 'solo'],
    ['plain', 'flat'],
    ['helm', 'charted'],
  ] as const) {
    const { result: tried, facts } = await observing(plane, [deployments], () =>
      install(name, kind, '--upgrade-from', world.folderOf('base')),
    )
    const wanted = ['1.0.0', '1.1.0'].map((one) => `Deployment runs registry.example/${name}:${name}.v${one}`)
    claim(
      `the API server has the Deployments of both bundles of ${name} available`,
      missingIn(facts, wanted).length === 0,
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
        tried.out.includes('refuses to change a Bundle in its place'),
        tried.out.split('\n').find((line) => line.includes('in its place')) ?? 'not said',
      )
    await isClean(name)
  }
  const failing = await install('shaky', 'plain')
  claim(
    'an Operator whose image nobody has does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await isClean('it')
  const nowhere = `${host}/bundles/flat@sha256:${'0'.repeat(64)}`
  const missing = await trial(
    {
      target: 'RukPak plain',
      package: 'flat',
      steps: [{ root: 'flat.v9.0.0', version: '9.0.0', names: ['flat.v9.0.0'], image: nowhere }],
    },
    { catalog: { image: '' } },
    { patience: 15_000, extension: 60_000 },
  )
  claim(
    'a bundle image that nobody has is said to be missing',
    codeOf(missing.report) === 'bundle-image-missing',
    missing.told,
  )
  const wrongKind = await trial(
    {
      target: 'RukPak helm',
      package: 'flat',
      steps: [
        {
          root: 'flat.v1.0.0',
          version: '1.0.0',
          names: ['flat.v1.0.0'],
          image: world.images.get('flat.v1.0.0') ?? '',
        },
      ],
    },
    { catalog: { image: '' } },
    { patience: 15_000, extension: 60_000 },
  )
  claim(
    'manifests that are no chart are refused by the provisioner of charts',
    ['refused-by-rukpak', 'unpack-failed'].includes(codeOf(wrongKind.report) ?? ''),
    wrongKind.told,
  )
  await isClean('these')
}
