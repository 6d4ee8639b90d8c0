// GitHub waits for the reports of others: a commit status, a conversation. Their deliveries wake the waiting pull
// requests, and without a delivery the sweep does.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { startStoryEnvironment, waitUntil, type StoryEnvironment } from './story-environment.ts'

const isBotReportEvent = ({ event }: { event: string }) =>
  event === 'status' || event === 'pull_request_review_thread' || event === 'check_run'

describe.each([
  ['with webhooks, and no sweep', 600],
  ['with a sweep, and none of their webhooks', 2],
])('%s', (_how, sweepSeconds) => {
  let story: StoryEnvironment
  const ends: (() => void)[] = []
  beforeAll(async () => {
    story = await startStoryEnvironment({ sweepSeconds })
    await story.start()
    if (sweepSeconds < 600) story.demo.github.webhooks.drop(isBotReportEvent)
  })
  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })
  afterAll(() => story.close())

  const open = async (id: string) => (await openDemoStory(story.demo, id)).pull
  const findComment = (pull: MockPull): string =>
    pull.comments.findLast(({ author }) => author.login === 'catalog-bot[bot]')?.body ?? ''
  const waitForComment = (pull: MockPull, text: RegExp) =>
    story.waitUntil(`it says ${String(text)}`, () => text.test(findComment(pull)))
  const refusals = () => story.log.filter((line) => line.includes('"msg":"GitHub rejected a merge"')).length
  /** Sooner than the first timed retry. */
  const waitForQuickMerge = (pull: MockPull) =>
    waitUntil('it is merged', () => pull.merged !== null, 30, [findComment(pull), ...story.log])
  const addRules = (...given: Parameters<typeof story.demo.github.addRules>[1]) => {
    const { github } = story.demo
    const made = github.addRules(demoRepositoryName, given)
    ends.push(() => github.removeRuleset(demoRepositoryName, made))
  }

  test('a pull request is merged when a required status succeeds', async () => {
    const { github } = story.demo
    const required_status_checks = [{ context: 'ci/build' }]
    addRules({
      type: 'required_status_checks',
      parameters: { strict_required_status_checks_policy: false, required_status_checks },
    })
    const pull = await open('good update')
    const report = (state: 'pending' | 'success', context = 'ci/build') =>
      github.setStatus(demoRepositoryName, pull.headSha, 'harbormaster', { state, context })
    // The second timed retry comes after minutes.
    const isWaiting = () =>
      refusals() >= 2 &&
      story.log.findLastIndex((line) => line.includes('"verdict":"wait","msg":"examined"')) >
        story.log.findLastIndex((line) => line.includes('"msg":"GitHub rejected a merge"'))
    await story.waitUntil('it was refused twice, and waits', isWaiting)
    await report('pending')
    await report('success', 'ci/lint')
    expect(pull.merged).toBeNull()
    await report('success')
    await waitForQuickMerge(pull)
  })

  test('a pull request is merged when a conversation is resolved', async () => {
    const { github, repository } = story.demo
    const parameters = {
      required_approving_review_count: 0,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: true,
    }
    addRules({ type: 'pull_request', parameters })
    const before = github.webhooks.hold(({ event }) => event === 'pull_request')
    const pull = await open('first of two competing updates')
    github.openConversation(pull)
    before()
    await waitForComment(pull, /conversation must be resolved/)
    github.resolveConversation(pull)
    github.webhooks.emit('pull_request_review_thread', 'resolved', repository, pull.author, {
      pull_request: { number: pull.number },
    })
    await waitForQuickMerge(pull)
  })
})

test('an installation without the new permission works as before', async () => {
  const story = await startStoryEnvironment({ sweepSeconds: 2 })
  try {
    const { github } = story.demo
    const { permissions } = github.installationOn(demoRepositoryName)
    delete (permissions as Record<string, unknown>)['statuses']
    await story.start()
    const parameters = {
      required_approving_review_count: 1,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: false,
    }
    github.addRules(demoRepositoryName, [{ type: 'pull_request', parameters }])
    const { pull } = await openDemoStory(story.demo, 'good update')
    await story.waitUntil('it waits', () =>
      pull.comments.some(({ body }) => /At least 1 approving/.test(body)),
    )
    github.review(pull, 'harbormaster', 'approve')
    await story.waitUntil('it is merged', () => pull.merged !== null)
    expect(
      github.requests.some(({ template, status }) => template.endsWith('/status') && status === 403),
    ).toBe(true)
  } finally {
    await story.close()
  }
})
