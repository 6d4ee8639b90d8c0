// A bot under each kind of branch: the same pull request, from its opening to its merge, without manual steps.
import { afterEach, expect, test } from '@jest/globals'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { demoStories } from '../../sandbox/demo/stories.ts'
import type { BranchRule } from '../../sandbox/github/branch-rules/rule-types.ts'
import { runGit } from '../sandbox/github/github-fixture.ts'
import {
  createStatusChecksRule,
  createPullRequestRule,
  createMergeQueueRule,
} from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { getRequiredBotChecks } from '../../src/policy/required-checks.ts'
import { toPrefixedCheckNames } from '../../src/report/report-options.ts'
import { startStoryEnvironment, waitUntil, type StoryEnvironment } from './story-environment.ts'

let storyEnvironment: StoryEnvironment | undefined
afterEach(async () => storyEnvironment?.close())

const requiredBotChecks = toPrefixedCheckNames(getRequiredBotChecks(defaultConfig)).map((context) => ({
  context,
}))
const createRequiredBotChecksRule = (app: number) =>
  createStatusChecksRule(requiredBotChecks.map((check) => ({ ...check, integration_id: app })))

test.each<[string, (app: number) => BranchRule[], number]>([
  ['requires our checks: they are put on the merge first', (app) => [createRequiredBotChecksRule(app)], 2],
  ['requires a linear history: GitHub squashes', () => [{ type: 'required_linear_history' }], 1],
  [
    'requires signatures and a pull request',
    () => [{ type: 'required_signatures' }, createPullRequestRule()],
    2,
  ],
  ['has a merge queue', (app) => [createMergeQueueRule(), createRequiredBotChecksRule(app)], 2],
])(
  'a branch that %s receives the pull request as it was validated',
  async (_, rulesFor, parents) => {
    storyEnvironment = await startStoryEnvironment({ sweepSeconds: 5, validateTraffic: true })
    const { demo } = storyEnvironment
    const { github, repository } = demo
    github.addRules(demoRepositoryName, rulesFor(Number(demo.environment['APP_ID'])))
    await storyEnvironment.start()
    const [story] = demoStories
    if (story === undefined) throw new Error('no story')
    const pull = await github.openPull({ ...story.open(demo), signed: true })
    await waitUntil('it is merged', () => pull.merged !== null, 90, storyEnvironment.log)
    const tip = repository.knownRefs.get('refs/heads/main') ?? ''
    const about = await runGit(repository.path, undefined, 'log', '-1', '--format=%P', tip)
    expect(about.split(' ')).toHaveLength(parents)
    await waitUntil(
      'no temporary branch is left',
      () => ![...repository.knownRefs.keys()].some((ref) => ref.includes('catalog-bot/tmp-')),
      20,
      storyEnvironment.log,
    )
    await waitUntil(
      'its comment says so',
      () => pull.comments.some(({ body }) => body.includes('Merged')),
      30,
      storyEnvironment.log,
    )
    expect(github.violations).toEqual([])
  },
  150_000,
)
