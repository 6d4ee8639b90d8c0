// The main job on a real catalog repository: the owners of 324 packages, four catalog versions, 60 MB.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { runCatalogBot } from '../cli/command.ts'
import { findSharedPath } from '../shared-data.ts'
import { createRealCatalogEnvironment } from './real-catalog-environment.ts'
import { startStoryBot, waitUntil } from './story-environment.ts'

const communityOperatorsPath = findSharedPath('community-operators')

;(communityOperatorsPath === undefined ? describe.skip : describe)('on the community operators', () => {
  test.each(['v4.16', 'v4.20', 'v4.21', 'v4.22'])('every package of %s passes', async (version) => {
    const catalog = join(communityOperatorsPath ?? '', 'catalogs', version)
    const { out } = await runCatalogBot('validate', '--profile', 'opm', '-o', 'json', catalog)
    expect((JSON.parse(out) as { passed: boolean }).passed).toBe(true)
  })

  test('an owner updates one package, which is checked and merged, and its rebuild is triggered', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'real-'))
    const story = await createRealCatalogEnvironment(communityOperatorsPath ?? '', directory)
    const log: string[] = []
    const bot = await startStoryBot({ environment: story.environment, onLog: (line) => log.push(line) })
    try {
      story.github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
      const pull = await story.github.openPull(story.update('v4.20'))
      await waitUntil('it lands', () => pull.merged !== null, 120, log)
      // The job of the branch first records 60 MB of catalogs, at a low priority.
      await waitUntil('its rebuild succeeds', () => story.isRebuilt(pull), 150, log)
    } finally {
      await bot.kill('SIGKILL')
      await story.stop()
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    }
  }, 300_000)
})
