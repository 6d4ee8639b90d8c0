// Keeps the data folder of this version as fixtures/upgrade/VERSION.tar.zst, which every later version must open
// (test/stories/upgrade.test.ts): `node --no-warnings scripts/upgrade-fixture.ts`, once for each release.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import packageJson from '../package.json' with { type: 'json' }
import { startDemoEnvironment } from '../sandbox/demo/demo-environment.ts'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import { catalogImageRepository } from '../sandbox/demo/set-up-publishing.ts'
import { runMergeFreezeStory } from '../sandbox/demo/merge-freeze-story.ts'

const archivePath = join(import.meta.dirname, '..', 'fixtures', 'upgrade', `${packageJson.version}.tar.zst`)
const dataDirectory = mkdtempSync(join(tmpdir(), 'upgrade-fixture-'))
const demoEnvironment = await startDemoEnvironment({
  directory: dataDirectory,
  publishes: true,
  sweepSeconds: 5,
})
try {
  const bot = await startBotProcess({
    environment: { ...demoEnvironment.environment, PUBLIC_URL: 'https://bot.example.com' },
    logFile: join(dataDirectory, 'log'),
  })
  demoEnvironment.github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
  const played = await runMergeFreezeStory(demoEnvironment, bot)
  await bot.kill()
  const { merged, waiting } = played
  const expected = {
    merged: { pull: merged.number, head: merged.headSha, commit: merged.merged?.sha },
    waiting: { pull: waiting.number, head: waiting.headSha, approval: played.approval },
    // See planPublications() for the key.
    publication: `main catalogs/v4.20 ${demoEnvironment.registry.host}/${catalogImageRepository}:v4.20`,
    image: played.image,
  }
  const data = demoEnvironment.environment['DATA_DIR'] ?? ''
  writeFileSync(join(data, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
  // The other files in the folder are mirrors and caches, which a start makes again.
  const tar = execFileSync('tar', ['--owner=0', '--group=0', '-C', data, '-c', 'expected.json', 'store'], {
    maxBuffer: 2 ** 30,
  })
  mkdirSync(join(archivePath, '..'), { recursive: true })
  // A long window, because Postgres's three databases have most of their pages in common.
  const params = { [constants.ZSTD_c_compressionLevel]: 19, [constants.ZSTD_c_windowLog]: 27 }
  const packed = zstdCompressSync(tar, { params })
  writeFileSync(archivePath, packed)
  process.stdout.write(`${archivePath}: ${packed.length} bytes\n`)
} finally {
  await demoEnvironment.stop()
  rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
}
