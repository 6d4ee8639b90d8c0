// Trials with OLM v0's own operators: install and upgrade, an Operator that does not run, what the resolver refuses, a kill.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { usualDeadlines } from '../../../src/checks/install/trial/deadlines.ts'
import { completePlan } from '../../../src/cluster/complete-plan.ts'
import { sweepCluster } from '../../../src/cluster/janitor.ts'
import { runTrial } from '../../../src/cluster/run-trial.ts'
import { systemClock } from '../../../src/examine/system-clock.ts'
import { freePorts } from '../control-plane/start-control-plane.ts'
import { startOlmV0 } from '../control-plane/start-controllers.ts'
import { crds, csvs, deployments, missingIn, observing } from './observe.ts'
import { remains, type Scene } from './scene.ts'

const target = 'OLM v0'
const foo = {
  target,
  package: 'foo',
  steps: [{ root: 'foo.v1.1.0', version: '1.1.0', names: ['foo.v1.1.0', 'red.v1.0.0'] }],
  crds: ['reds.example.com'],
} as const

export async function olmV0Stories(scene: Scene): Promise<void> {
  const { plane, world, standIn, claim, isClean } = scene
  scene.about(await startOlmV0(plane))
  const local = world.bundles.flatMap(({ name }) => ['--bundle', `${name}=${world.folderOf(name)}`])
  const install = (packageName: string, ...more: string[]) =>
    scene.catalogBot(
      'install',
      world.folderOf('head'),
      '--package',
      packageName,
      ...local,
      '--with',
      'olm-v0',
      '--offline',
      '--kubeconfig',
      plane.trialKubeconfig,
      '--catalog-host',
      '127.0.0.1',
      ...more,
    )
  const { result: tried, facts } = await observing(plane, [csvs, deployments, crds], () =>
    install('foo', '--upgrade-from', world.folderOf('base')),
  )
  const wanted = ['foo.v1.0.0', 'foo.v1.1.0', 'red.v1.0.0'].flatMap((name) => [
    `ClusterServiceVersion ${name} succeeded`,
    `Deployment runs registry.example/${name.slice(0, 3)}:${name}`,
  ])
  claim(
    'the API server has every ClusterServiceVersion succeeded, its Deployment available, and the CRD of the dependency',
    missingIn(facts, [...wanted, 'CRD reds.example.com is established']).length === 0,
    facts.join('\n'),
  )
  claim(
    'our command installs and upgrades, with a dependency, over our own server',
    tried.code === 0 && /upgrade foo.v1.0.0 → foo.v1.1.0: installs/.test(tried.out),
    tried.out,
  )
  claim(
    'the bundles were unpacked by the command of their Jobs',
    standIn.unpacked.length >= 3,
    standIn.unpacked.join('\n'),
  )
  await isClean('the trials')
  const failing = await install('broken')
  claim(
    'an Operator whose image nobody has does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await isClean('it')

  const [port] = await freePorts(1)
  const server = spawn(
    join(plane.built, 'bin', 'opm'),
    [
      'serve',
      world.folderOf('head'),
      '--port',
      String(port),
      '--cache-dir',
      join(plane.folder, 'opm-cache'),
      '--cache-enforce-integrity=false',
      '--pprof-addr=',
      `--termination-log=${join(plane.folder, 'opm-ended')}`,
    ],
    { stdio: 'ignore' },
  )
  try {
    await fromOpm(scene, { catalog: { address: `127.0.0.1:${port}` } })
  } finally {
    server.kill('SIGKILL')
  }
}

async function fromOpm(
  { plane, cluster, claim, isClean, trial }: Scene,
  place: { readonly catalog: { readonly address: string } },
): Promise<void> {
  const byOpm = await trial(foo, place)
  claim('it installs from `opm serve`', byOpm.report.outcome.verdict === 'installs', byOpm.told)
  const lonely = await trial(
    {
      target,
      package: 'lonely',
      steps: [{ root: 'lonely.v1.0.0', version: '1.0.0', names: ['lonely.v1.0.0'] }],
    },
    place,
  )
  claim(
    "a dependency that nobody gives is the resolution's no",
    codeOf(lonely.report) === 'resolution-unsatisfiable',
    lonely.told,
  )
  const other = await trial(
    { ...foo, crds: [], steps: [{ root: 'foo.v1.0.0', version: '1.0.0', names: ['foo.v1.0.0'] }] },
    place,
  )
  claim(
    'another choice than the simulated one is not approved',
    codeOf(other.report) === 'resolver-mismatch',
    other.told,
  )
  await isClean('these')

  const stop = new AbortController()
  const dying = {
    ...cluster,
    act: async (...action: Parameters<typeof cluster.act>) =>
      stop.signal.aborted ? Promise.reject(new Error('killed')) : cluster.act(...action),
  }
  const killed = completePlan(
    { ...foo, channel: 'stable', mode: 'AllNamespaces', isUpgrade: false },
    place,
    usualDeadlines,
    systemClock.now(),
  )
  await runTrial(
    { ...killed, expires: Math.floor(systemClock.now() / 1000) + 5 },
    {
      cluster: dying,
      clock: systemClock,
      onProgress: (says) => says.startsWith('ClusterServiceVersion') && stop.abort(),
    },
  ).catch(() => undefined)
  await systemClock.sleep(6000)
  const swept = await sweepCluster({ cluster, clock: systemClock })
  const left = await remains(plane)
  claim(
    'what a killed trial left is taken away by the janitor',
    swept.length === 1 && swept[0]?.leftovers.length === 0 && left === 'nothing',
    `${JSON.stringify(swept)}\n${left}`,
  )
}

export function codeOf({ outcome }: { readonly outcome: object }): string | undefined {
  return 'code' in outcome ? String(outcome.code) : undefined
}
