// Install tests with the real operators of OLM v0: install and upgrade, an Operator that does not run, packages that
// the resolver rejects, and a killed test.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { defaultClusterTestDeadlines } from '../../../../src/checks/install/cluster-test/cluster-test-state.ts'
import {
  buildClusterTestPlan,
  sweepExpiredClusterTests,
  runClusterTest,
} from '../../../../src/cluster-test/cluster/run-cluster-tests.ts'
import { systemClock } from '../../../../src/adapters/system-clock.ts'
import { findFreePorts } from '../control-plane/start-control-plane.ts'
import { startOlmV0 } from '../control-plane/start-controllers.ts'
import {
  crdObserver,
  csvObserver,
  deploymentObserver,
  findMissingClusterObservations,
  observeCluster,
} from './observe-cluster.ts'
import { findLeftoverClusterObjects, type ClusterStoryContext } from './cluster-stories.ts'

const fooClusterTestPlan = {
  target: 'OLM v0',
  package: 'foo',
  steps: [{ root: 'foo.v1.1.0', version: '1.1.0', names: ['foo.v1.1.0', 'red.v1.0.0'] }],
  crds: ['reds.example.com'],
} as const

export async function runOlmV0Stories(scene: ClusterStoryContext): Promise<void> {
  const { plane, testImages, kubelet, claim, claimClean } = scene
  scene.startSection(await startOlmV0(plane))
  const local = testImages.bundles.flatMap(({ name }) => ['--bundle', `${name}=${testImages.folderOf(name)}`])
  const install = (packageName: string, ...more: string[]) =>
    scene.catalogBot(
      ...['install', testImages.folderOf('head'), '--package', packageName, ...local, '--with', 'olm-v0'],
      ...['--offline', '--kubeconfig', plane.clusterTestKubeconfig, '--catalog-host', '127.0.0.1', ...more],
    )
  const { result: tried, facts } = await observeCluster(
    plane,
    [csvObserver, deploymentObserver, crdObserver],
    () => install('foo', '--upgrade-from', testImages.folderOf('base')),
  )
  const wanted = ['foo.v1.0.0', 'foo.v1.1.0', 'red.v1.0.0'].flatMap((name) => [
    `ClusterServiceVersion ${name} succeeded`,
    `Deployment runs registry.example/${name.replace('.v', ':')}`,
  ])
  claim(
    'the API server has every ClusterServiceVersion succeeded, its Deployment available, and the CRD of the dependency',
    findMissingClusterObservations(facts, [...wanted, 'CRD reds.example.com is established']).length === 0,
    facts.join('\n'),
  )
  claim(
    'our command installs and upgrades, with a dependency, over our own server',
    tried.code === 0 && /upgrade foo.v1.0.0 → foo.v1.1.0: installs/.test(tried.out),
    tried.out,
  )
  claim(
    'the bundles were unpacked by the command of their Jobs',
    kubelet.unpacked.length >= 3,
    kubelet.unpacked.join('\n'),
  )
  await claimClean('the trials')
  const failing = await install('broken')
  claim(
    'an Operator with an image that does not exist does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  await claimClean('it')

  const [port] = await findFreePorts(1)
  const server = spawn(
    join(plane.built, 'bin', 'opm'),
    [
      'serve',
      testImages.folderOf('head'),
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
    await runOpmServeStories(scene, { catalog: { address: `127.0.0.1:${port}` } })
  } finally {
    server.kill('SIGKILL')
  }
}

async function runOpmServeStories(
  { plane, cluster, claim, claimClean, runClusterTest: trial }: ClusterStoryContext,
  catalogSource: { readonly catalog: { readonly address: string } },
): Promise<void> {
  const byOpm = await trial(fooClusterTestPlan, catalogSource)
  claim('it installs from `opm serve`', byOpm.report.outcome.verdict === 'installs', byOpm.message)
  const claimFailure = async (text: string, code: string, plan: Parameters<typeof trial>[0]) => {
    const { report, message } = await trial(plan, catalogSource)
    claim(text, getClusterTestFailureCode(report) === code, message)
  }
  await claimFailure(
    'a dependency that no catalog provides fails the resolution',
    'resolution-unsatisfiable',
    {
      target: 'OLM v0',
      package: 'lonely',
      steps: [{ root: 'lonely.v1.0.0', version: '1.0.0', names: ['lonely.v1.0.0'] }],
    },
  )
  await claimFailure('another choice than the simulated one is not approved', 'resolver-mismatch', {
    ...fooClusterTestPlan,
    crds: [],
    steps: [{ root: 'foo.v1.0.0', version: '1.0.0', names: ['foo.v1.0.0'] }],
  })
  await claimClean('these')

  const stop = new AbortController()
  const dying = {
    ...cluster,
    perform: async (...action: Parameters<typeof cluster.perform>) =>
      stop.signal.aborted ? Promise.reject(new Error('killed')) : cluster.perform(...action),
  }
  const killed = buildClusterTestPlan(
    { ...fooClusterTestPlan, channel: 'stable', mode: 'AllNamespaces', isUpgrade: false },
    catalogSource,
    defaultClusterTestDeadlines,
    systemClock.now(),
  )
  await runClusterTest(
    { ...killed, expires: Math.floor(systemClock.now() / 1000) + 5 },
    {
      cluster: dying,
      clock: systemClock,
      onProgress: (says) => says.startsWith('ClusterServiceVersion') && stop.abort(),
    },
  ).catch(() => undefined)
  await systemClock.sleep(6000)
  const swept = await sweepExpiredClusterTests({ cluster, clock: systemClock })
  const left = await findLeftoverClusterObjects(plane)
  claim(
    'what a killed trial left is taken away by the janitor',
    swept.length === 1 && swept[0]?.leftovers.length === 0 && left === 'nothing',
    `${JSON.stringify(swept)}\n${left}`,
  )
}

export function getClusterTestFailureCode({ outcome }: { readonly outcome: object }): string | undefined {
  return 'code' in outcome ? String(outcome.code) : undefined
}
