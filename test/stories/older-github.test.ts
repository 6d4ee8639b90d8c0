// A GitHub Enterprise Server that lacks what is new: no rules of branches over REST, no such fields in GraphQL, no version
// of the interface that it knows. What cannot be read is said in words, and pull requests are merged all the same.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ProbotOctokit } from 'probot'
import { readBranchRules } from '../../src/github/read-branch-rules.ts'
import { outcomeOf, type Told } from '../../sandbox/demo/outcome.ts'
import { repositoryName } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { ownChecks } from './landing-table/row.ts'
import { gitIn } from './landing-table/table-ground.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

const missing = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' },
}
const unknownField = {
  status: 200,
  body: {
    errors: [
      {
        path: ['query', 'repository', 'ref', 'refUpdateRule'],
        extensions: { code: 'undefinedField', typeName: 'Ref', fieldName: 'refUpdateRule' },
        message: "Field 'refUpdateRule' doesn't exist on type 'Ref'",
      },
    ],
  },
}

describe('an older GitHub', () => {
  let world: StoryWorld
  beforeAll(async () => {
    world = await openStoryWorld({ sweepSeconds: 5 })
    const { github } = world.coast
    github.protect(repositoryName, 'main', {
      enforce_admins: true,
      required_status_checks: { strict: false, contexts: ownChecks },
    })
    github.fail(({ template }) => /\/rules(ets)?(\/|$)/.test(template), missing, Infinity)
    github.fail(({ template }) => template === '/graphql', unknownField, Infinity)
  }, 60_000)
  afterAll(() => world.close())

  test('what it does not tell is said in words, and nothing fails', async () => {
    const { github } = world.coast
    const octokit = new ProbotOctokit({
      baseUrl: github.url,
      auth: { token: github.tokenFor('harbormaster') },
      throttle: { enabled: false },
      retry: { enabled: false },
    })
    const rules = await readBranchRules(octokit, { owner: 'coast', name: 'operators' }, 'main', {
      app: 1,
      isApp: true,
    })
    expect(rules.unread).toEqual([
      expect.stringMatching(/rulesets.*cannot be read.*this GitHub does not have/),
    ])
    expect(rules.checks.required.map(({ name }) => name).sort()).toEqual([...ownChecks].sort())
  })

  test('a pull request that is up to date and one that is behind are merged, each as it was checked', async () => {
    const { coast } = world
    const told: Told[] = []
    for (const id of ['good update', 'first of two']) {
      const story = stories.find((each) => each.id === id)
      if (story === undefined) throw new Error(`no story ${id}`)
      told.push({
        story: { ...story, ending: { kind: 'lands' } as const },
        pull: await coast.github.openPull(story.open(coast)),
      })
    }
    await world.start()
    for (const each of told)
      await until(`${each.story.id} is merged`, () => outcomeOf(each, told, coast).landed, 60, world.log)
    for (const { pull } of told) {
      const { path } = pull.repo
      const [base = '', head = ''] = (
        await gitIn(path, 'log', '-1', '--format=%P', pull.merged?.sha ?? '')
      ).split(' ')
      expect(head).toBe(pull.headSha)
      expect(await gitIn(path, 'rev-parse', `${pull.merged?.sha ?? ''}^{tree}`)).toBe(
        (await gitIn(path, 'merge-tree', '--write-tree', base, head)).split('\n')[0],
      )
    }
  }, 150_000)
})
