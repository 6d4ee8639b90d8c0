// The bot's process is killed at named points of a merge and restarted: each pull request is merged exactly once (I11,
// T43). The process, its death, Postgres, and git are real, so there is one point for each kind of leftover state.
// test/simulate/every-crash.test.ts covers a death at any single step, in memory. test/merge/simulated-crashes.test.ts covers
// every action on a real git and GitHub's API, for every merge method.
import { execFileSync } from 'node:child_process'
import { afterEach, describe, expect, test } from '@jest/globals'
import { crashPoints } from '../../src/jobs/crash-point.ts'
import { evaluateDemoStory } from '../../sandbox/demo/story-outcome.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

/**
 * The next process finds a verdict without an action, an intent, a push, an unannounced merge, and an announced one. Each
 * process of a row is killed at its next point. The last point is a separate row, because a process can dispatch the
 * rebuild before it reports the merge.
 */
const essentialCrashPoints: readonly (readonly (typeof crashPoints)[number][])[] = [
  ['verdict-recorded', 'intent-written', 'pushed', 'landing-reported'],
  ['rebuild-dispatched'],
]
/** All of them take two minutes: CRASH_POINTS=all npm test -- test/stories/crashes.test.ts. */
const testedCrashPoints =
  process.env['CRASH_POINTS'] === 'all' ? crashPoints.map((point) => [point]) : essentialCrashPoints

describe('a bot that is killed', () => {
  let story: StoryEnvironment | undefined
  afterEach(async () => story?.close())

  test.each(testedCrashPoints.map((points) => [points.join(', '), points] as const))(
    'at %s merges the pull request exactly once after its restart',
    async (_, points) => {
      story = await startStoryEnvironment({ sweepSeconds: 3, environment: { LEASE_SECONDS: '3' } })
      const { demo } = story
      const opened = await openDemoStory(demo, 'good update')
      const { pull } = opened
      for (const point of points) {
        const doomed = await story.start({ CATALOG_BOT_CRASH_AT: point })
        expect(await doomed.exited).toBe('SIGKILL')
      }

      await story.start()
      await story.waitUntil(
        'it is merged and rebuilt',
        () => evaluateDemoStory(opened, [opened], demo).isExpected,
      )
      const merges = execFileSync(
        'git',
        ['-C', demo.repository.path, 'log', '--merges', '--format=%P', 'main'],
        { encoding: 'utf8' },
      )
      expect(merges.trim().split('\n')).toHaveLength(1)
      expect(merges).toContain(pull.headSha)
      expect(pull.comments.filter(({ body }) => body.startsWith('<!-- catalog-bot'))).toHaveLength(1)
      const rebuilds = demo.repository.runs.filter(({ event }) => event === 'repository_dispatch')
      // GitHub doesn't report what started a run, so a bot that dies between sending the event and recording it (here,
      // while it handles the webhook of its push during the merge) sends it again. It sends at least one.
      expect(rebuilds.length).toBeGreaterThanOrEqual(points.includes('rebuild-dispatched') ? 2 : 1)
      expect(rebuilds.length).toBeLessThanOrEqual(2)
    },
  )
})
