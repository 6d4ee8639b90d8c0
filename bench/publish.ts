// From a merge to an image that users can pull: the whole bot on this machine, one pull request after another, and the time
// from the branch's move until the tag names an image with the new catalog. The registry is docker-registry where that is on
// the PATH, else the sandbox's. `npm run bench:publish -- [MERGES]`, 20.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { addOnTop } from '../sandbox/demo/catalog-edits.ts'
import { startBot } from '../sandbox/demo/bot-process.ts'
import { openDemoWorld, publishImages, repositoryName } from '../sandbox/demo/demo-world.ts'

const merges = Number(process.argv[2] ?? 20)
const patience = 60_000
const directory = await mkdtemp(join(tmpdir(), 'bench-publish-'))
const image = 'coast/bench'
const file = 'catalogs/v4.20/lighthouse/catalog.yaml'

const shop = await openShop()
const coast = await openDemoWorld({
  directory,
  files: {
    '.github/catalog-bot.yml': `publish: [{catalog: catalogs/v4.20, repository: ${shop?.host ?? 'HOST'}/${image}, tags: [latest], base: scratch}]\n`,
  },
})
if (shop === undefined)
  await coast.github.pushToBase(repositoryName, {
    '.github/catalog-bot.yml': `publish: [{catalog: catalogs/v4.20, repository: ${coast.registry.host}/${image}, tags: [latest], base: scratch}]\n`,
  })
const host = shop?.host ?? coast.registry.host
const targets = join(directory, 'targets.yml')
await writeFile(targets, `- {github: ${repositoryName}, push: [${host}/${image}]}\n`)
const bot = await startBot({
  environment: {
    ...coast.environment,
    LOG_LEVEL: 'warn',
    PUBLISH_TARGETS: targets,
    INSECURE_REGISTRIES: [...new Set([coast.registry.host, host])].join(','),
  },
})
coast.github.sendWebhooksTo(`${bot.address}/api/github/webhooks`)

try {
  let now = (await digest()) ?? ''
  const begun = performance.now()
  // The first image, before anything is merged.
  while (now === '' && performance.now() - begun < patience) {
    await pause(50)
    now = (await digest()) ?? ''
  }
  let text = coast.files[file] ?? ''
  const times: number[] = []
  for (let at = 0; at < merges; at += 1) {
    const [before, after] = [at === 0 ? '1.1.0' : `1.2.${at - 1}`, `1.2.${at}`]
    text = addOnTop(text, 'lighthouse', after, before)
    publishImages(coast.registry, text, (bundle) => bundle === `lighthouse.v${after}`)
    const pull = await coast.github.openPull({
      repository: repositoryName,
      author: 'alice',
      title: `lighthouse ${after}`,
      changes: { [file]: text },
    })
    const opened = performance.now()
    while (pull.merged === null && performance.now() - opened < patience) await pause(5)
    const merged = performance.now()
    let found = now
    while (found === now && performance.now() - merged < patience) {
      await pause(5)
      found = (await digest()) ?? now
    }
    if (found === now) throw new Error(`lighthouse ${after} was not published within a minute`)
    times.push(performance.now() - merged)
    now = found
  }
  times.sort((a, b) => a - b)
  const part = (share: number) => (times[Math.ceil(times.length * share) - 1] ?? 0) / 1000
  console.log(
    `${merges} merges, registry: ${shop === undefined ? 'the sandbox’s' : 'docker-registry'}; from merge to readable tag: ` +
      `p50 ${part(0.5).toFixed(2)} s, p95 ${part(0.95).toFixed(2)} s, slowest ${part(1).toFixed(2)} s`,
  )
} finally {
  await bot.kill()
  await coast.stop()
  await shop?.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}

async function digest(): Promise<string | undefined> {
  const reply = await fetch(`http://${host}/v2/${image}/manifests/latest`, {
    headers: {
      accept:
        'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.list.v2+json',
    },
  }).catch(() => undefined)
  await reply?.arrayBuffer()
  return reply?.ok === true ? (reply.headers.get('docker-content-digest') ?? undefined) : undefined
}

async function openShop(): Promise<{ readonly host: string; stop(): Promise<void> } | undefined> {
  try {
    execFileSync('docker-registry', ['--version'], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const port = await freePort()
  const config = join(directory, 'registry.yml')
  await writeFile(
    config,
    `version: 0.1\nlog: {level: error}\nstorage:\n  filesystem: {rootdirectory: ${join(directory, 'registry')}}\n  delete: {enabled: true}\nhttp: {addr: 127.0.0.1:${port}}\n`,
  )
  const child: ChildProcess = spawn('docker-registry', ['serve', config], { stdio: 'ignore' })
  const at = `127.0.0.1:${port}`
  const started = performance.now()
  while (
    !(await fetch(`http://${at}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (performance.now() - started > 10_000) throw new Error('docker-registry does not start')
    await pause(50)
  }
  return {
    host: at,
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await gone
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
