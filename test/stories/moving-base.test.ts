// The base moves between validation and merge: nothing is merged without validation (T13, T37, I1, I2).
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { evaluateDemoStory } from '../../sandbox/demo/story-outcome.ts'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

describe('a base branch that moves during a merge', () => {
  let story: StoryEnvironment
  beforeAll(async () => {
    story = await startStoryEnvironment({ sweepSeconds: 3 })
  })
  afterAll(() => story.close())

  test('restarts the evaluation, and the merged tree is the validated merge of its parents', async () => {
    const { demo } = story
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', demo.repository.path, ...args], { encoding: 'utf8' }).trim()
    // Another user keeps pushing to the base while the bot evaluates, validates, and merges.
    let moves = 0
    await story.start()
    const opened = await openDemoStory(demo, 'good update')
    const { pull } = opened
    const mover = setInterval(() => {
      if (moves >= 6 || pull.merged !== null) return
      moves++
      void demo.github.pushToBase(
        demoRepositoryName,
        { [`notes/${moves}.md`]: `${moves}\n` },
        { by: 'harbormaster' },
      )
    }, 150)
    try {
      await story.waitUntil('it is merged', () => evaluateDemoStory(opened, [], demo).isMerged)
    } finally {
      clearInterval(mover)
    }
    const merge = git('log', '--merges', '-1', '--format=%H', 'main')
    const [base = '', head = ''] = git('log', '-1', '--format=%P', merge).split(' ')
    expect(head).toBe(pull.headSha)
    // The tree is the merge of exactly these two, which is what the bot validated on this base.
    expect(git('rev-parse', `${merge}^{tree}`)).toBe(
      git('merge-tree', '--write-tree', base, head).split('\n')[0],
    )
    expect(git('diff', '--name-only', base, merge)).toBe('catalogs/v4.20/lighthouse/catalog.yaml')
  })
})
