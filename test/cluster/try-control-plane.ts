// `npm run test:cluster`: trials on a real control plane, with OLM's own controllers: install, upgrade, a failing Operator, a
// dependency that nobody gives; and a clean cluster after each. Needs etcd and what build-control-plane builds
// (`CONTROL_PLANE` names its folder). Exit 1 where something is not as it should be.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { usualDeadlines } from '../../src/checks/install/trial/deadlines.ts'
import type { PlannedTrial } from '../../src/checks/install/trial/plan-trials.ts'
import type { TrialReport } from '../../src/checks/install/trial/trial-report.ts'
import { completePlan } from '../../src/cluster/complete-plan.ts'
import { sweepCluster } from '../../src/cluster/janitor.ts'
import { openCluster } from '../../src/cluster/open-cluster.ts'
import { runTrial } from '../../src/cluster/run-trial.ts'
import { systemClock } from '../../src/examine/system-clock.ts'
import { describeTrials } from '../../src/messages/describe-trials.ts'
import { startControlPlane, type ControlPlane } from './control-plane/start-control-plane.ts'
import { startStandIn } from './control-plane/stand-in-kubelet.ts'
import { writtenWorld } from './control-plane/written-world.ts'

const built = process.env['CONTROL_PLANE']
if (built === undefined || !existsSync(join(built, 'bin', 'kube-apiserver'))) {
  console.log(
    'CONTROL_PLANE names no folder that test/cluster/build-control-plane has filled: nothing was tried',
  )
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'control-plane-'))
const say = (line: string) => console.log(line)
const place = (path: string, content: Uint8Array | string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const { catalogs, bundles } = writtenWorld()
for (const [name, text] of catalogs) place(`${name}/catalog.json`, text)
for (const [name, files] of bundles)
  for (const [path, bytes] of files.files) place(`bundles/${name}/${path}`, bytes)
const bundleFolder = (name: string) => join(folder, 'bundles', name)

let wrong = 0
const claim = (what: string, holds: boolean, told: string) => {
  say(`${holds ? 'ok    ' : 'WRONG '} ${what}`)
  if (!holds) wrong += 1
  say(
    told
      .split('\n')
      .map((line) => `         ${line}`)
      .join('\n'),
  )
}

const opm = join(built, 'bin', 'opm')
let plane: ControlPlane | undefined
let standIn: ReturnType<typeof startStandIn> | undefined
const closing: (() => Promise<unknown> | void)[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void plane?.close().finally(() => process.exit(1)))
try {
  plane = await startControlPlane({ built, folder: join(folder, 'plane'), say })
  standIn = startStandIn({
    plane,
    opm,
    bundles: new Map([...bundles].map(([name, { image }]) => [image, bundleFolder(name)])),
  })
  await stories(plane, standIn)
} finally {
  for (const close of closing.toReversed()) await close()
  await standIn?.close()
  await plane?.close()
  if (process.env['KEEP'] === undefined) rmSync(folder, { recursive: true, force: true })
  else say(`kept: ${folder}`)
}
say(wrong === 0 ? 'all as it should be' : `${wrong} wrong`)
process.exit(wrong === 0 ? 0 : 1)

async function stories(real: ControlPlane, kubelet: ReturnType<typeof startStandIn>): Promise<void> {
  const local = [...bundles.keys()].flatMap((name) => ['--bundle', `${name}=${bundleFolder(name)}`])
  const install = (catalog: string, packageName: string, ...more: string[]) =>
    catalogBot(
      'install',
      join(folder, catalog),
      '--package',
      packageName,
      ...local,
      '--with',
      'olm-v0',
      '--offline',
      '--kubeconfig',
      real.trialKubeconfig,
      '--catalog-host',
      '127.0.0.1',
      ...more,
    )

  const tried = await install('head', 'foo', '--upgrade-from', join(folder, 'base'))
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
  claim('nothing of the trials is left', await isClean(real), await remains(real))

  const failing = await install('head', 'broken')
  claim(
    'an Operator whose image nobody has does not install',
    failing.code === 1 && failing.out.includes('operator-image-missing'),
    failing.out,
  )
  claim('nothing of it is left', await isClean(real), await remains(real))

  const outside = await openCluster({ file: real.trialKubeconfig, clock: systemClock })
  closing.push(() => outside.close())
  const refused = await outside.act({
    kind: 'delete',
    at: { apiVersion: 'v1', kind: 'Namespace', name: 'operators' },
  })
  claim(
    'the account of trials cannot touch another namespace',
    refused?.status === 422 || refused?.status === 403,
    refused?.says ?? 'it was not refused',
  )

  const port = 50_000 + (process.pid % 10_000)
  const server = spawn(
    opm,
    [
      'serve',
      join(folder, 'head'),
      '--port',
      String(port),
      '--cache-dir',
      join(folder, 'opm-cache'),
      '--cache-enforce-integrity=false',
      '--pprof-addr=',
      `--termination-log=${join(folder, 'opm-ended')}`,
    ],
    { stdio: 'ignore' },
  )
  closing.push(() => void server.kill('SIGKILL'))
  const cluster = await openCluster({ file: real.trialKubeconfig, clock: systemClock })
  closing.push(() => cluster.close())
  const trial = async (
    planned: Omit<PlannedTrial, 'target' | 'mode' | 'channel' | 'isUpgrade'>,
  ): Promise<TrialReport> =>
    runTrial(
      completePlan(
        { target: 'OLM v0', mode: 'AllNamespaces', channel: 'stable', isUpgrade: false, ...planned },
        { catalog: { address: `127.0.0.1:${port}` } },
        usualDeadlines,
        systemClock.now(),
      ),
      { cluster, clock: systemClock },
    )
  const byOpm = await trial({
    package: 'foo',
    steps: [{ root: 'foo.v1.1.0', version: '1.1.0', names: ['foo.v1.1.0', 'red.v1.0.0'] }],
    crds: ['reds.example.com'],
  })
  claim(
    'it installs from `opm serve`',
    byOpm.outcome.verdict === 'installs' && byOpm.leftovers.length === 0,
    describeTrials([byOpm]),
  )
  const lonely = await trial({
    package: 'lonely',
    steps: [{ root: 'lonely.v1.0.0', version: '1.0.0', names: ['lonely.v1.0.0'] }],
    crds: [],
  })
  claim(
    "a dependency that nobody gives is the resolution's no",
    'code' in lonely.outcome && lonely.outcome.code === 'resolution-unsatisfiable',
    describeTrials([lonely]),
  )
  const other = await trial({
    package: 'foo',
    steps: [{ root: 'foo.v1.0.0', version: '1.0.0', names: ['foo.v1.0.0'] }],
    crds: [],
  })
  claim(
    'another choice than the simulated one is not approved',
    'code' in other.outcome && other.outcome.code === 'resolver-mismatch',
    describeTrials([other]),
  )
  claim('nothing of these is left', await isClean(real), await remains(real))

  const stop = new AbortController()
  const dying = {
    ...cluster,
    act: async (...action: Parameters<typeof cluster.act>) =>
      stop.signal.aborted ? Promise.reject(new Error('killed')) : cluster.act(...action),
  }
  const killed = completePlan(
    {
      target: 'OLM v0',
      package: 'foo',
      channel: 'stable',
      mode: 'AllNamespaces',
      isUpgrade: false,
      crds: ['reds.example.com'],
      steps: [{ root: 'foo.v1.1.0', version: '1.1.0', names: ['foo.v1.1.0', 'red.v1.0.0'] }],
    },
    { catalog: { address: `127.0.0.1:${port}` } },
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
  claim(
    'what a killed trial left is taken away by the janitor',
    swept.length === 1 && swept[0]?.leftovers.length === 0 && (await isClean(real)),
    `${JSON.stringify(swept)}\n${await remains(real)}`,
  )
}

async function remains(real: ControlPlane): Promise<string> {
  const names = async (path: string, isOurs: (name: string) => boolean) => {
    const { body } = await real.ask('GET', path)
    return ((body['items'] ?? []) as { metadata: { name: string } }[])
      .map(({ metadata }) => metadata.name)
      .filter(isOurs)
  }
  const found = [
    ...(await names('/api/v1/namespaces', (name) => name.startsWith('catalog-bot-'))),
    ...(await names('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', (name) =>
      name.endsWith('.example.com'),
    )),
    ...(await names('/apis/operators.coreos.com/v1alpha1/clusterserviceversions', () => true)),
    ...(await names('/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=olm.owner', () => true)),
  ]
  return found.length === 0 ? 'nothing' : found.join(', ')
}

async function isClean(real: ControlPlane): Promise<boolean> {
  return (await remains(real)) === 'nothing'
}

function catalogBot(
  ...parameters: string[]
): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn(
    process.execPath,
    ['--no-warnings', join(import.meta.dirname, '..', '..', 'src', 'cli.ts'), ...parameters],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let out = ''
  child.stdout.on('data', (part: Buffer) => (out += part.toString('utf8')))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out })))
}
