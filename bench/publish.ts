// Measures the time from a merge to an image that users can pull: the whole catalog-bot on this machine, one pull
// request after another, from the move of the branch until the tag refers to an image with the new catalog. The
// registry is docker-registry if it is on the PATH, or the sandbox's registry otherwise. `npm run bench:publish --
// [MERGES]`, 20 by default.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { addVersionToChannelStart } from '../sandbox/demo/catalog-edits.ts'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import {
  startDemoEnvironment,
  pushCatalogImages,
  demoRepositoryName,
} from '../sandbox/demo/demo-environment.ts'
import { startRealRegistry } from '../test/adapters/registry/real-registry.ts'
import { isOnPath } from '../test/is-on-path.ts'
import { buildCatalogBotCli } from './built-command.ts'

const mergeCount = Number(process.argv[2] ?? 20)
const publishTimeoutMs = 60_000
const dataDirectory = await mkdtemp(join(tmpdir(), 'bench-publish-'))
const imageRepository = 'coast/bench'
const catalogFilePath = 'catalogs/v4.20/lighthouse/catalog.yaml'

const dockerRegistry = isOnPath('docker-registry') ? await startRealRegistry() : undefined
const demoEnvironment = await startDemoEnvironment({
  directory: dataDirectory,
  files: {
    '.github/catalog-bot.yml': `publish: [{catalog: catalogs/v4.20, repository: ${dockerRegistry?.host ?? 'HOST'}/${imageRepository}, tags: [latest], base: scratch}]\n`,
  },
})
if (dockerRegistry === undefined)
  await demoEnvironment.github.pushToBase(demoRepositoryName, {
    '.github/catalog-bot.yml': `publish: [{catalog: catalogs/v4.20, repository: ${demoEnvironment.registry.host}/${imageRepository}, tags: [latest], base: scratch}]\n`,
  })
const registryHost = dockerRegistry?.host ?? demoEnvironment.registry.host
const publishTargetsFilePath = join(dataDirectory, 'targets.yml')
await writeFile(
  publishTargetsFilePath,
  `- {github: ${demoRepositoryName}, push: [${registryHost}/${imageRepository}]}\n`,
)
const botProcess = await startBotProcess({
  command: await buildCatalogBotCli(),
  environment: {
    ...demoEnvironment.environment,
    LOG_LEVEL: 'warn',
    PUBLISH_TARGETS: publishTargetsFilePath,
    INSECURE_REGISTRIES: [...new Set([demoEnvironment.registry.host, registryHost])].join(','),
  },
})
demoEnvironment.github.sendWebhooksTo(`${botProcess.url}/api/github/webhooks`)

try {
  let now = (await fetchPublishedDigest()) ?? ''
  const startedAt = performance.now()
  // The first image, before any merge.
  while (now === '' && performance.now() - startedAt < publishTimeoutMs) {
    await pause(50)
    now = (await fetchPublishedDigest()) ?? ''
  }
  let text = demoEnvironment.files[catalogFilePath] ?? ''
  const times: number[] = []
  for (let at = 0; at < mergeCount; at += 1) {
    const [before, after] = [at === 0 ? '1.1.0' : `1.2.${at - 1}`, `1.2.${at}`]
    text = addVersionToChannelStart(text, 'lighthouse', after, before)
    pushCatalogImages(demoEnvironment.registry, text, (bundle) => bundle === `lighthouse.v${after}`)
    const pull = await demoEnvironment.github.openPull({
      repository: demoRepositoryName,
      author: 'alice',
      title: `lighthouse ${after}`,
      changes: { [catalogFilePath]: text },
    })
    const opened = performance.now()
    while (pull.merged === null && performance.now() - opened < publishTimeoutMs) await pause(5)
    const merged = performance.now()
    let found = now
    while (found === now && performance.now() - merged < publishTimeoutMs) {
      await pause(5)
      found = (await fetchPublishedDigest()) ?? now
    }
    if (found === now) throw new Error(`lighthouse ${after} was not published within a minute`)
    times.push(performance.now() - merged)
    now = found
  }
  times.sort((a, b) => a - b)
  const percentile = (share: number) => (times[Math.ceil(times.length * share) - 1] ?? 0) / 1000
  console.log(
    `${mergeCount} merges, registry: ${dockerRegistry === undefined ? 'the sandbox’s' : 'docker-registry'}; from merge to readable tag: ` +
      `p50 ${percentile(0.5).toFixed(2)} s, p95 ${percentile(0.95).toFixed(2)} s, slowest ${percentile(1).toFixed(2)} s`,
  )
} finally {
  await botProcess.kill()
  await demoEnvironment.stop()
  await dockerRegistry?.close()
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
}

async function fetchPublishedDigest(): Promise<string | undefined> {
  const reply = await fetch(`http://${registryHost}/v2/${imageRepository}/manifests/latest`, {
    headers: {
      accept:
        'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.list.v2+json',
    },
  }).catch(() => undefined)
  await reply?.arrayBuffer()
  return reply?.ok === true ? (reply.headers.get('docker-content-digest') ?? undefined) : undefined
}
