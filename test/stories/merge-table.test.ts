// The table of branch rules with a running bot, with a row for each route and each reason to wait. Each pull request is
// merged by a route that GitHub accepts, or waits with a visible message until a person fixes the reported problem.
// There is one App, and one repository per row. merge-table-github.test.ts merges all rows without a process of the
// bot.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { BotProcess } from '../../sandbox/demo/bot-process.ts'
import { interruptedMergeRows, userCreatedTemporaryBranch } from './merge-table/interrupted-merges.ts'
import { expectMergedAsValidated } from './merge-table/merged-as-validated.ts'
import type { ExpectedBlockedMergeResult } from './merge-table/table-row.ts'
import { singleBranchRuleRows } from './merge-table/single-rule-rows.ts'
import { combinedRuleRows } from './merge-table/combined-rule-rows.ts'
import {
  createMergeTableFixture,
  type PreparedMergeTableRow,
  type MergeTableFixture,
} from './merge-table/table-fixture.ts'
import { getTrafficValidator } from '../sandbox/github/traffic-validator.ts'
import { startStoryBot, waitUntil } from './story-environment.ts'

const botMergeTableRows = [
  ...[...singleBranchRuleRows, ...combinedRuleRows].filter(({ withBot }) => withBot),
  ...interruptedMergeRows,
]

/** The text that people can read: our comments, our checks on the head, and our issues. */
function collectBotTextOnPull({ pull }: PreparedMergeTableRow): string {
  const ours = ({ author }: { author: { login: string } }) => author.login === 'catalog-bot[bot]'
  const checks = pull.repo.suites.filter(({ sha }) => sha === pull.headSha).flatMap(({ runs }) => runs)
  return [
    ...pull.comments.filter(ours).map(({ body }) => body),
    ...checks.map(({ title, summary }) => `${title ?? ''}\n${summary ?? ''}`),
    ...[...pull.repo.issues.values()].filter(ours).map(({ title, body }) => `${title}\n${body ?? ''}`),
  ].join('\n')
}

describe('every merge route of a branch', () => {
  let fixture: MergeTableFixture
  let bot: BotProcess
  const stages = new Map<number, Promise<PreparedMergeTableRow>>()
  const played: PreparedMergeTableRow[] = []
  const log: string[] = []
  let runner: NodeJS.Timeout | undefined

  beforeAll(async () => {
    fixture = await createMergeTableFixture({ validator: getTrafficValidator() })
    runner = setInterval(runOnTemporary, 100)
    bot = await startStoryBot({
      environment: { ...fixture.environment, SWEEP_SECONDS: '30' },
      onLog: (line) => log.push(line),
    })
    fixture.github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
  })

  afterAll(async () => {
    clearInterval(runner)
    await bot?.kill('SIGKILL')
    await fixture?.stop()
  })

  /** Opens a row's repository, and prepares those of the next few rows at the same time. */
  async function staged(index: number): Promise<PreparedMergeTableRow> {
    for (const [at, row] of botMergeTableRows.entries())
      if (at >= index && at < index + 4 && !stages.has(at)) {
        const stage = fixture.openRow(row, `row-${at + 1}`)
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
      for (const [ref, sha] of pull.repo.knownRefs)
        if (/^refs\/heads\/catalog-bot\//.test(ref) && !pull.repo.statuses.some((it) => it.sha === sha))
          void fixture.github.setStatus(full, sha, 'bob', { context, state: 'success' })
    }
  }

  const linesOf = ({ full }: PreparedMergeTableRow): string[] =>
    log.filter((line) => line.includes(`"name":"${full.split('/')[1] ?? ''}"`))

  const says = (it: PreparedMergeTableRow, waits: ExpectedBlockedMergeResult) => () =>
    waits.textPatterns.every((part) => part.test(collectBotTextOnPull(it)))

  test.each(botMergeTableRows.map((row, index) => [row.name, index, row] as const))(
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
      await waitUntil(
        `it ends as it should; people read:\n${collectBotTextOnPull(it)}\n`,
        hasEnded,
        45,
        linesOf(it),
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}\n--- people read now:\n${collectBotTextOnPull(it)}`)
      })
      if (it.pull.merged !== null && may.merge !== undefined) return expectMergedAsValidated(it, may.merge)
      expect(it.pull).toMatchObject({ state: 'open', merged: null })
      await may.wait?.fix?.(it)
    },
  )

  // Runs last, because a rejected merge is retried a minute later, and these minutes overlap.
  const fixed = botMergeTableRows.flatMap((row, index) => {
    const waits = 'ends' in row.bot && row.bot.ends === 'waits' ? row.bot : undefined
    return waits?.then === undefined ? [] : [[row.name, index, waits.then] as const]
  })
  test.each(fixed)('%s: merges automatically after the fix', async (_, index, then) => {
    const it = await staged(index)
    await waitUntil('it is merged after that', () => it.pull.merged !== null, 100, linesOf(it)).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n--- people read now:\n${collectBotTextOnPull(it)}`)
      },
    )
    return expectMergedAsValidated(it, then)
  })

  test("every comment on a merged pull request reports the merge, and all requests match GitHub's documentation", async () => {
    const unreported = () =>
      played.filter(
        ({ pull: { merged, comments } }) =>
          merged !== null && !comments.some(({ body }) => body.includes('Merged')),
      )
    await waitUntil('all comments say so', () => unreported().length === 0, 30, log)
    expect(fixture.github.violations).toEqual([])
  })

  test('no temporary branch of the App is left, and a user’s branch with such a name stays', async () => {
    const temporary = () =>
      played.flatMap(({ full, pull }) =>
        [...pull.repo.knownRefs.keys()]
          .filter((ref) => /catalog-bot|readonly/.test(ref))
          .map((ref) => `${full} ${ref}`),
      )
    const left = () => temporary().filter((ref) => !ref.endsWith(` refs/heads/${userCreatedTemporaryBranch}`))
    await waitUntil('they are gone', () => left().length === 0, 20).catch(() => expect(left()).toEqual([]))
    expect(temporary()).toHaveLength(1)
  })
})
