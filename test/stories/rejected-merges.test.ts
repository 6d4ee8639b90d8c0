// GitHub rejects merges for various reasons. After a person fixes the cause, catalog-bot merges the pull requests.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { startStoryEnvironment, waitUntil, type StoryEnvironment } from './story-environment.ts'

const storyTimeoutSeconds = 90

describe('GitHub rejects', () => {
  let story: StoryEnvironment
  beforeAll(async () => {
    story = await startStoryEnvironment({ sweepSeconds: 2 })
    await story.start()
  })
  afterAll(() => story.close())

  const open = async (id: string) => (await openDemoStory(story.demo, id)).pull
  const findComment = (pull: MockPull): string =>
    pull.comments.findLast(({ author }) => author.login === 'catalog-bot[bot]')?.body ?? ''
  const waitForComment = (pull: MockPull, text: string | RegExp) =>
    waitUntil(
      `#${pull.number} says ${String(text)}`,
      () => (typeof text === 'string' ? findComment(pull).includes(text) : text.test(findComment(pull))),
      storyTimeoutSeconds,
      [findComment(pull), ...story.log],
    )
  const waitForMerge = (pull: MockPull) =>
    story.waitUntil(`#${pull.number} is merged`, () => pull.merged !== null)

  test('a locked branch: the pull request reports it, and is merged as soon as the branch is unlocked', async () => {
    const { github } = story.demo
    const rule = github.addRules(demoRepositoryName, [{ type: 'update' }])
    const pull = await open('good update')
    await waitForComment(pull, 'GitHub has rejected merges into main since')
    expect(findComment(pull)).toContain('only listed users and apps can update the branch; add this App')
    expect(pull.merged).toBeNull()
    github.removeRuleset(demoRepositoryName, rule)
    await waitForMerge(pull)
  }, 240_000)

  test('one pull request without an approval: it waits alone, and is merged after the approval', async () => {
    const { github } = story.demo
    const approvals = {
      required_approving_review_count: 1,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: false,
    }
    const rule = github.addRules(demoRepositoryName, [{ type: 'pull_request', parameters: approvals }])
    const pull = await open('first of two competing updates')
    await waitForComment(pull, /GitHub rejected the merge: At least 1 approving review is required/)
    expect(findComment(pull)).not.toContain('GitHub has rejected merges into')
    github.review(pull, 'harbormaster', 'approve')
    await waitForMerge(pull)
    github.removeRuleset(demoRepositoryName, rule)
  }, 240_000)

  test('only maintainers can freeze and unfreeze merging', async () => {
    const { github } = story.demo
    const pull = await open('update by a non-owner')
    await waitForComment(pull, 'Waiting')
    github.comment(pull, 'mallory', '/freeze')
    await waitForComment(pull, /mallory` cannot use `\/freeze`: only maintainers/)
    github.comment(pull, 'harbormaster', '/freeze release day')
    await waitForComment(pull, /merging into main was frozen by .{0,5}harbormaster at .*: release day/i)
    github.comment(pull, 'harbormaster', '/thaw')
    await story.waitUntil(
      'it says nothing of a stop',
      () => !/merging into main was frozen/i.test(findComment(pull)),
    )
  }, 240_000)

  test('reports a broken catalog after a direct push on the commit and in an issue, until it is fixed', async () => {
    const { github, repository, files } = story.demo
    const path = 'catalogs/v4.20/buoy/catalog.yaml'
    const text = execFileSync('git', ['-C', repository.path, 'show', `main:${path}`], { encoding: 'utf8' })
    expect(files[path]).toBeDefined()
    await github.pushToBase(demoRepositoryName, { [path]: `${text}---\nschema: [\n` }, { by: 'harbormaster' })
    const broke = execFileSync('git', ['-C', repository.path, 'rev-parse', 'main'], {
      encoding: 'utf8',
    }).trim()
    const issues = () =>
      [...repository.issues.values()].filter(({ body }) => body?.includes('broken-base') === true)
    await story.waitUntil('there is an issue', () => issues().length === 1)
    expect(issues()[0]).toMatchObject({ state: 'open', title: 'A push broke 1 catalog' })
    const checks = github.checkRuns({ repo: repository, headSha: broke })
    expect(checks.filter(({ name }) => name === 'catalog-bot / push')).toMatchObject([
      { conclusion: 'failure' },
    ])
    await github.pushToBase(demoRepositoryName, { [path]: text }, { by: 'harbormaster' })
    await story.waitUntil('it is closed', () => issues()[0]?.state === 'closed')
    expect(issues()).toHaveLength(1)
  }, 240_000)
})
