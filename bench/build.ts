// Measures the time from a directory to a readable tag of a catalog image, with docker-registry on loopback and a
// base of 32 MB, and compares it with buildah. `npm run bench:build -- [DIR] [RUNS] [MEGABYTES]`, where DIR is a
// catalog. Without it (or with '') a catalog of 15 MB is generated. Measurements whose tools are not installed are
// skipped and reported.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/adapters/system-clock.ts'
import { RegistryCatalogPublisher } from '../src/adapters/image/open-catalog-publisher.ts'
import { RegistryImagePusher, type ImagePusher } from '../src/adapters/image/open-pusher.ts'
import { readCatalogFolder } from '../src/adapters/image/local-build.ts'
import { HttpRegistryClient } from '../src/adapters/registry/open-registry.ts'
import { allowLoopbackRegistries } from '../src/adapters/registry/transport/egress-policy.ts'
import { buildImage } from '../sandbox/registry/registry-image.ts'
import { isOnPath } from '../test/is-on-path.ts'
import { startRealRegistry } from '../test/adapters/registry/real-registry.ts'
import { buildCatalogBotCli } from './built-command.ts'
import { generateCatalog } from './generated-catalog.ts'

const [named = '', times = '5', megabytes = '15'] = process.argv.slice(2)
const benchmarkRunCount = Number(times)
const scratchFolder = mkdtempSync(join(tmpdir(), 'bench-build-'))
const catalogFolder = join(scratchFolder, 'catalog')
const changedCatalogFolder = join(scratchFolder, 'changed')

/** Milliseconds, the median of all runs. */
async function measureMedianRunMs(
  label: string,
  target: number | undefined,
  run: (index: number) => unknown,
): Promise<number> {
  const all: number[] = []
  for (let index = 0; index < benchmarkRunCount; index += 1) {
    const started = performance.now()
    await run(index)
    all.push(performance.now() - started)
  }
  const median = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0
  const aim = target === undefined ? '' : `   target ${target} ms: ${median < target ? 'met' : 'missed'}`
  console.log(`${label.padEnd(62)} ${median.toFixed(0).padStart(7)} ms${aim}`)
  return median
}

function runCommand(program: string, ...parameters: readonly string[]): void {
  const run = spawnSync(program, parameters, {
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: join(scratchFolder, 'cache') },
  })
  if (run.status !== 0) throw new Error(`${program} ${parameters.join(' ')}: ${run.stderr}`)
}

/** Installed like the published package. */
const [start = '', ...started] = await buildCatalogBotCli()
const runCatalogBot = (...parameters: readonly string[]) => runCommand(start, ...started, ...parameters)

try {
  if (named === '') generateCatalog(catalogFolder, Number(megabytes))
  else cpSync(named, catalogFolder, { recursive: true, mode: 0 })
  spawnSync('chmod', ['-R', 'u+w', catalogFolder])
  cpSync(catalogFolder, changedCatalogFolder, { recursive: true })
  modifyFirstCatalogFile(changedCatalogFolder)
  const files = await readCatalogFolder(catalogFolder)
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  console.log(
    `a catalog of ${(bytes / 1e6).toFixed(1)} MB, a base of 32 MB, ${availableParallelism()} processors\n`,
  )
  const missing = ['docker-registry'].find((program) => !isOnPath(program))
  if (missing === undefined) await benchRegistryBuilds()
  else {
    console.log(`SKIPPED: everything that pushes, because ${missing} is not installed`)
    const alone = new RegistryCatalogPublisher({ ...createRegistryClients('127.0.0.1:1'), packsIn: 'here' })
    await measureMedianRunMs('built in memory, without a base', 1000, () =>
      alone.build({ files, base: 'scratch' }),
    )
    await alone.close()
  }
} finally {
  rmSync(scratchFolder, { recursive: true, force: true, maxRetries: 10 })
}

function createRegistryClients(host: string) {
  const egress = allowLoopbackRegistries(host)
  return {
    registry: new HttpRegistryClient({ clock: systemClock, egress }),
    pusher: new RegistryImagePusher({ clock: systemClock, egress, credentials: [] }),
  }
}

async function benchRegistryBuilds(): Promise<void> {
  const server = await startRealRegistry()
  const { registry, pusher } = createRegistryClients(server.host)
  const cachedBuilds = new Map<string, string>()
  const buildCache = {
    get: async (key: string) => cachedBuilds.get(key),
    set: async (key: string, value: string) => void cachedBuilds.set(key, value),
  }
  const publisher = new RegistryCatalogPublisher({ registry, pusher, buildCache, packsIn: 'here' })
  const base = `${server.host}/base/opm:1`
  try {
    await pushBaseImage(pusher, server.host)
    const files = await readCatalogFolder(catalogFolder)
    const other = await readCatalogFolder(changedCatalogFolder)
    const toTarget = (name: string) => ({ repository: `${server.host}/${name}`, tags: ['v4.20'] })
    console.log('in a running process, like the App')
    const cold = await measureMedianRunMs('  cold: an empty repository', 1000, (index) =>
      publisher.publish({ files, base }, toTarget(`org/warm-${index}`)),
    )
    await measureMedianRunMs('  unchanged', 200, () =>
      publisher.publish({ files, base }, toTarget('org/warm-0')),
    )
    await measureMedianRunMs('  unchanged, without a cache', undefined, () => {
      cachedBuilds.clear()
      return publisher.publish({ files, base }, toTarget('org/warm-0'))
    })
    await measureMedianRunMs('  one package changed', undefined, (index) => {
      cachedBuilds.clear()
      return publisher.publish({ files: other, base }, toTarget(`org/warm-${index}`))
    })
    await measureMedianRunMs('  rebased', undefined, (index) =>
      publisher.rebase({ image: `${server.host}/org/warm-${index}:v4.20`, base, labels: {} }),
    )
    console.log('the command, including its start')
    const pushArguments = ['-i', base, '--insecure-registry', server.host, '--push']
    const image = (name: string) => `${server.host}/${name}:v4.20`
    const byCommand = await measureMedianRunMs('  cold: an empty repository', undefined, (index) =>
      runCatalogBot('build', catalogFolder, '-t', image(`org/cli-${index}`), ...pushArguments),
    )
    await measureMedianRunMs('  unchanged', undefined, () =>
      runCatalogBot('build', catalogFolder, '-t', image('org/cli-0'), ...pushArguments),
    )
    await measureMedianRunMs('  one package changed', undefined, (index) =>
      runCatalogBot('build', changedCatalogFolder, '-t', image(`org/cli-${index}`), ...pushArguments),
    )
    console.log('others')
    await measureDockerfileBuild(server.host, Math.min(cold, byCommand))
  } finally {
    await publisher.close()
    await registry.close()
    await server.close()
  }
}

/**
 * Builds both stages on a base that contains only this machine's opm. `RUN` is a chroot, without a container
 * engine.
 */
async function measureDockerfileBuild(host: string, ours: number): Promise<void> {
  if (!isOnPath('buildah') || !isOnPath('opm'))
    return console.log('  SKIPPED: buildah with opm’s Dockerfile, which requires buildah (root) and opm')
  const base = 'localhost/base/opm:1'
  buildOpmBaseImage(base)
  writeCatalogDockerfile(base)
  const file = join(scratchFolder, 'catalog.Dockerfile')
  const theirs = await measureMedianRunMs(
    '  buildah bud with opm’s Dockerfile, and push',
    undefined,
    (index) => {
      const target = `${host}/org/buildah-${index}:v4.20`
      runBuildah('bud', '--no-cache', '--pull-never', '-f', file, '-t', target, scratchFolder)
      runBuildah('push', '--tls-verify=false', target)
    },
  )
  console.log(`  ${(theirs / ours).toFixed(1)} times the time of catalog-bot (target 10)`)
}

/** With separate storage that needs no kernel support, and with a policy that accepts every image. */
function runBuildah(verb: 'bud' | 'push', ...parameters: readonly string[]): void {
  const storage = [
    '--root',
    join(scratchFolder, 'images'),
    '--runroot',
    join(scratchFolder, 'run'),
    '--storage-driver',
    'vfs',
  ]
  const policy = ['--signature-policy', join(scratchFolder, 'policy.json')]
  const isolation = verb === 'bud' ? ['--isolation', 'chroot'] : []
  runCommand('buildah', ...storage, verb, ...policy, ...isolation, ...parameters)
}

function buildOpmBaseImage(name: string): void {
  writeFileSync(join(scratchFolder, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}')
  const context = join(scratchFolder, 'opm')
  mkdirSync(context)
  const { stdout } = spawnSync('which', ['opm'], { encoding: 'utf8' })
  cpSync(stdout.trim(), join(context, 'opm'))
  writeFileSync(join(context, 'Dockerfile'), 'FROM scratch\nCOPY opm /bin/opm\n')
  runBuildah('bud', '-t', name, context)
}

function writeCatalogDockerfile(base: string): void {
  const run = spawnSync(start, [...started, 'build', '--dockerfile', '-i', base, '-b', base, catalogFolder])
  writeFileSync(join(scratchFolder, 'catalog.Dockerfile'), run.stdout)
}

function modifyFirstCatalogFile(directory: string): void {
  const [first] = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.ya?ml$/.test(entry.name),
  )
  if (!first) throw new Error(`${directory} contains no YAML file`)
  const path = join(first.parentPath, first.name)
  writeFileSync(path, `${readFileSync(path, 'utf8')}# changed\n`)
}

/** 32 MB of incompressible data, for two platforms. */
async function pushBaseImage(pusher: ImagePusher, host: string): Promise<void> {
  const files = { data: randomBytes(32 * 1024 * 1024) }
  const { blobs, manifests, top } = buildImage({ files, platforms: ['linux/amd64', 'linux/arm64'] })
  await pusher.push({
    host,
    repository: 'base/opm',
    blobs: blobs.map(({ digest, bytes }) => ({ digest, size: bytes.length, read: async () => bytes })),
    manifests: [...manifests, top],
    tags: ['1'],
  })
}
