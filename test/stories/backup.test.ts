// Backups made and restored with the commands in docs/how-to/back-up-and-upgrade.md. The bot that starts from the backup continues: the
// freeze holds, the approval counts, and the merged pull request is not announced again.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startBotProcess } from '../../sandbox/demo/bot-process.ts'
import { runMergeFreezeStory, type MergeFreezeStoryResult } from '../../sandbox/demo/merge-freeze-story.ts'
import { findBotComment } from '../../sandbox/demo/story-outcome.ts'
import { saveAppCredentials } from '../../src/jobs/saved-credentials.ts'
import { runSqlQuery } from '../adapters/store/postgres-server.ts'
import { createStoryDatabase } from '../adapters/store/story-database.ts'
import { compileCacheDirectory } from '../compile-cache.ts'
import { findMissingProgram } from '../left-out.ts'
import {
  builtCommand,
  startStoryEnvironment,
  startStoryBot,
  type StoryEnvironment,
} from './story-environment.ts'

const backupGuideText = readFileSync(
  join(import.meta.dirname, '../../docs/how-to/back-up-and-upgrade.md'),
  'utf8',
)
const backupSectionText =
  /^## Back up and restore\n(?<text>[^]*?)^## /m.exec(backupGuideText)?.groups?.['text'] ?? ''
const [embeddedCommands = [], postgresCommands = []] = [
  ...backupSectionText.matchAll(/^```sh\n([^]*?)^```/gm),
].map(([, block = '']) => block.trim().split('\n'))

/** The processes below this one, and itself. */
function listProcessTreeIds(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(listProcessTreeIds)]
}

/** Copies a folder at one instant, as a snapshot of the volume does. */
function copyDirectorySnapshot(of: string, to: string, pid: number): void {
  const processes = listProcessTreeIds(pid)
  for (const one of processes) process.kill(one, 'SIGSTOP')
  cpSync(of, to, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  for (const one of processes) process.kill(one, 'SIGCONT')
}

describe.each(['an embedded database', 'Postgres'])('a backup of a bot with %s', (kind) => {
  let story: StoryEnvironment
  let played: MergeFreezeStoryResult
  let comments: readonly string[]
  let directory: string
  let database: string | undefined
  let isLeftOut = false
  let bot: Awaited<ReturnType<typeof startBotProcess>>
  const start = async (dataDirectory: string, databaseUrl?: string) => {
    const { APP_ID: _id, PRIVATE_KEY: _key, WEBHOOK_SECRET: _secret, ...rest } = story.demo.environment
    const environment = {
      ...rest,
      CATALOG_BOT_CACHE: compileCacheDirectory,
      PUBLIC_URL: 'https://bot.example.com',
      DATA_DIR: dataDirectory,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    }
    const options = { environment, onLog: (line: string) => story.log.push(line) }
    bot = await (databaseUrl === undefined
      ? startStoryBot({ ...options, embedded: true })
      : startBotProcess({ ...options, command: builtCommand }))
    story.demo.github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
  }
  const run = (command = '', environment: Record<string, string>) =>
    execFileSync('sh', ['-ec', command], {
      cwd: directory,
      env: { PATH: process.env['PATH'], ...environment },
    })
  const folder = (name: string) => join(directory, name)
  const storeCredentials = (into: string) => {
    const { APP_ID = '', PRIVATE_KEY = '', WEBHOOK_SECRET = '' } = story.demo.environment
    saveAppCredentials({ id: Number(APP_ID), pem: PRIVATE_KEY, webhookSecret: WEBHOOK_SECRET }, into)
  }

  beforeAll(async () => {
    isLeftOut = kind === 'Postgres' && findMissingProgram('pg_dump', 'pg_restore') !== undefined
    database = kind === 'Postgres' && !isLeftOut ? await createStoryDatabase() : undefined
    isLeftOut ||= kind === 'Postgres' && database === undefined
    if (isLeftOut) return
    story = await startStoryEnvironment({ publishes: true, sweepSeconds: 5 })
    directory = story.demo.environment['DATA_DIR'] ?? ''
    mkdirSync(folder('first'), { recursive: true })
    storeCredentials(folder('first'))
    await start(folder('first'), database)
    played = await runMergeFreezeStory(story.demo, bot)
    comments = played.merged.comments.map(({ body }) => body)
  }, 240_000)
  afterAll(async () => {
    await bot?.kill('SIGKILL')
    await story?.close()
  })
  const expectContinued = async () => {
    await story.waitUntil('the freeze is counted', async () =>
      /^catalog_bot_stopped_branches\{.*kind="frozen".*\} 1$/m.test(
        await (await fetch(`${bot.url}/metrics`)).text(),
      ),
    )
    expect(findBotComment(played.waiting)).toMatch(/^### .*Merging is frozen/m)
    expect(played.merged.comments.map(({ body }) => body)).toEqual(comments)
  }
  const expectMergedAfterUnfreeze = async () => {
    story.demo.github.comment(played.waiting, 'harbormaster', '/unfreeze main')
    await story.waitUntil('the approved pull request is merged', () => played.waiting.merged !== null)
    expect(played.merged.comments.map(({ body }) => body)).toEqual(comments)
  }

  test('continues where the backup was made', async () => {
    if (isLeftOut) return
    if (database !== undefined) {
      const [dump, restore] = postgresCommands
      await runSqlQuery(database, 'CREATE DATABASE restored')
      const restored = new URL('restored', database).href
      run(dump, { DATABASE_URL: database })
      await bot.kill()
      run(restore, { DATABASE_URL: restored })
      mkdirSync(folder('second'))
      storeCredentials(folder('second'))
      await start(folder('second'), restored)
    } else {
      const [create, extract] = embeddedCommands
      copyDirectorySnapshot(folder('first'), folder('snapshot'), bot.process.pid ?? 0)
      await bot.kill('SIGKILL')
      rmSync(folder('first'), { recursive: true })
      await start(folder('snapshot'))
      await expectContinued()
      await bot.kill()
      run(create, { DATA_DIR: folder('snapshot') })
      rmSync(folder('snapshot'), { recursive: true })
      mkdirSync(folder('second'))
      run(extract, { DATA_DIR: folder('second') })
      expect(readdirSync(folder('second')).sort()).toEqual(['credentials.env', 'store'])
      await start(folder('second'))
    }
    await expectContinued()
    await expectMergedAfterUnfreeze()
  }, 240_000)
})
