// A bot under each kind of branch: the same pull request, from its opening to its merge, with nobody's help.
import { afterEach, expect, test } from '@jest/globals'
import { repositoryName } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import type { Rule } from '../../sandbox/github/branch-rules/rule-shapes.ts'
import { git } from '../sandbox/github/sample-world.ts'
import { checksRule, pullRequestRule, queueRule } from '../sandbox/github/branch-rules/landing-ground.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { demandedChecks } from '../../src/gate/demanded-checks.ts'
import { namesOfChecks } from '../../src/messages/report.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

let world: StoryWorld | undefined
afterEach(async () => world?.close())

const own = namesOfChecks(demandedChecks(defaultConfig)).map((context) => ({ context }))
const required = (app: number) => checksRule(own.map((check) => ({ ...check, integration_id: app })))

test.each<[string, (app: number) => Rule[], number]>([
  ['requires our checks: they are put on the merge first', (app) => [required(app)], 2],
  ['requires a linear history: GitHub squashes', () => [{ type: 'required_linear_history' }], 1],
  ['requires signatures and a pull request', () => [{ type: 'required_signatures' }, pullRequestRule()], 2],
  ['has a merge queue', (app) => [queueRule(), required(app)], 2],
])(
  'a branch that %s takes the pull request, as it was validated',
  async (_, rulesFor, parents) => {
    world = await openStoryWorld({ sweepSeconds: 5, validateTraffic: true })
    const { coast } = world
    const { github, repository } = coast
    github.addRules(repositoryName, rulesFor(Number(coast.environment['APP_ID'])))
    await world.start()
    const [story] = stories
    if (story === undefined) throw new Error('no story')
    const pull = await github.openPull({ ...story.open(coast), signed: true })
    await until('it is merged', () => pull.merged !== null, 90, world.log)
    const tip = repository.known.get('refs/heads/main') ?? ''
    const about = await git(repository.path, undefined, 'log', '-1', '--format=%P', tip)
    expect(about.split(' ')).toHaveLength(parents)
    await until(
      'no temporary branch is left',
      () => ![...repository.known.keys()].some((ref) => ref.includes('catalog-bot/tmp-')),
      20,
      world.log,
    )
    await until(
      'its comment says so',
      () => pull.comments.some(({ body }) => body.includes('Merged')),
      30,
      world.log,
    )
    expect(github.violations).toEqual([])
  },
  150_000,
)
