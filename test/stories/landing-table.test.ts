// The landing table with a running bot: a row for each way and each kind of waiting, from the open pull request to the merge, by
// a way that GitHub takes, or to the words that people read, and on from there once somebody has mended what they say. One App,
// a repository a row. All rows are landed in landing-table-github.test.ts, without a process of the bot's.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { BotProcess } from '../../sandbox/demo/bot-process.ts'
import { atTheWorstMoment, branchOfBob } from './landing-table/at-the-worst-moment.ts'
import { isMergedAsValidated } from './landing-table/merged-as-validated.ts'
import type { Waits } from './landing-table/row.ts'
import { rulesAlone } from './landing-table/rules-alone.ts'
import { rulesTogether } from './landing-table/rules-together.ts'
import { openTableGround, type Played, type TableGround } from './landing-table/table-ground.ts'
import { startStoryBot, until } from './world.ts'

const rows = [...[...rulesAlone, ...rulesTogether].filter(({ withBot }) => withBot), ...atTheWorstMoment]

/** What people can read: our comments, our checks on the head, our issues. */
function words({ pull }: Played): string {
  const ours = ({ author }: { author: { login: string } }) => author.login === 'catalog-bot[bot]'
  const checks = pull.repo.suites.filter(({ sha }) => sha === pull.headSha).flatMap(({ runs }) => runs)
  return [
    ...pull.comments.filter(ours).map(({ body }) => body),
    ...checks.map(({ title, summary }) => `${title ?? ''}\n${summary ?? ''}`),
    ...[...pull.repo.issues.values()].filter(ours).map(({ title, body }) => `${title}\n${body ?? ''}`),
  ].join('\n')
}

describe('every way onto a branch', () => {
  let ground: TableGround
  let bot: BotProcess
  const stages = new Map<number, Promise<Played>>()
  const played: Played[] = []
  const log: string[] = []
  let runner: NodeJS.Timeout | undefined

  beforeAll(async () => {
    ground = await openTableGround()
    runner = setInterval(runOnTemporary, 100)
    bot = await startStoryBot({
      environment: { ...ground.environment, SWEEP_SECONDS: '30' },
      onLog: (line) => log.push(line),
    })
    ground.github.sendWebhooksTo(`${bot.address}/api/github/webhooks`)
  }, 180_000)

  afterAll(async () => {
    clearInterval(runner)
    await bot?.kill('SIGKILL')
    await ground?.stop()
  })

  /** A row's repository; those of the next few rows are made meanwhile. */
  async function staged(index: number): Promise<Played> {
    for (const [at, row] of rows.entries())
      if (at >= index && at < index + 4 && !stages.has(at)) {
        const stage = ground.stage(row, `row-${at + 1}`)
        stage.then((it) => played.push(it)).catch(() => undefined)
        stages.set(at, stage)
      }
    return stages.get(index) ?? Promise.reject(new Error('no such row'))
  }

  /** CI that runs on pushes to temporary branches. */
  function runOnTemporary(): void {
    for (const { row, full, pull } of played) {
      const { runsOnTemporary: context } = row
      if (context === undefined) continue
      for (const [ref, sha] of pull.repo.known)
        if (/^refs\/heads\/catalog-bot\//.test(ref) && !pull.repo.statuses.some((it) => it.sha === sha))
          void ground.github.setStatus(full, sha, 'bob', { context, state: 'success' })
    }
  }

  const linesOf = ({ full }: Played): string[] =>
    log.filter((line) => line.includes(`"name":"${full.split('/')[1] ?? ''}"`))

  const says = (it: Played, waits: Waits) => () => waits.says.every((part) => part.test(words(it)))

  test.each(rows.map((row, index) => [row.name, index, row] as const))(
    '%s',
    async (_, index, row) => {
      const it = await staged(index)
      const ends = 'ends' in row.bot ? [row.bot] : [...row.bot]
      const may = {
        merge: ends.find((end) => end.ends === 'merged'),
        wait: ends.find((end) => end.ends === 'waits'),
      }
      const hasEnded = () =>
        (may.merge !== undefined && it.pull.merged !== null) ||
        (may.wait !== undefined && it.pull.merged === null && says(it, may.wait)())
      await until(`it ends as it should; people read:\n${words(it)}\n`, hasEnded, 45, linesOf(it)).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n--- people read now:\n${words(it)}`)
        },
      )
      if (it.pull.merged !== null && may.merge !== undefined) return isMergedAsValidated(it, may.merge)
      expect(it.pull).toMatchObject({ state: 'open', merged: null })
      await may.wait?.mend?.(it)
    },
    120_000,
  )

  // After all of the others: what was refused is tried again a minute later, and these minutes pass together.
  const mended = rows.flatMap((row, index) => {
    const waits = 'ends' in row.bot && row.bot.ends === 'waits' ? row.bot : undefined
    return waits?.then === undefined ? [] : [[row.name, index, waits.then] as const]
  })
  test.each(mended)(
    '%s: it goes on by itself when that is mended',
    async (_, index, then) => {
      const it = await staged(index)
      await until('it is merged after that', () => it.pull.merged !== null, 100, linesOf(it)).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n--- people read now:\n${words(it)}`)
        },
      )
      return isMergedAsValidated(it, then)
    },
    120_000,
  )

  test('no temporary branch of the App is left behind, and a person’s branch with such a name stays', async () => {
    const temporary = () =>
      played.flatMap(({ full, pull }) =>
        [...pull.repo.known.keys()]
          .filter((ref) => /catalog-bot|readonly/.test(ref))
          .map((ref) => `${full} ${ref}`),
      )
    const left = () => temporary().filter((ref) => !ref.endsWith(` refs/heads/${branchOfBob}`))
    await until('they are gone', () => left().length === 0, 20).catch(() => expect(left()).toEqual([]))
    expect(temporary()).toHaveLength(1)
  }, 30_000)
})
