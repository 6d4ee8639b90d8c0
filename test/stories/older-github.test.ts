// A GitHub Enterprise Server without newer features: no branch rules over REST, no such fields in GraphQL, and no known
// API version. The bot reports what it can't read, and still merges pull requests.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ProbotOctokit } from 'probot'
import { readBranchRules } from '../../src/adapters/github/read-branch-rules.ts'
import { evaluateDemoStory, type DemoStoryWithPull } from '../../sandbox/demo/story-outcome.ts'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { botCheckNames } from './merge-table/table-row.ts'
import { runGit } from '../sandbox/github/github-fixture.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

const notFoundResponse = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' },
}
const unknownFieldResponse = {
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
  let environment: StoryEnvironment
  beforeAll(async () => {
    environment = await startStoryEnvironment({ sweepSeconds: 5 })
    const { github } = environment.demo
    github.protect(demoRepositoryName, 'main', {
      enforce_admins: true,
      required_status_checks: { strict: false, contexts: botCheckNames },
    })
    github.fail(({ template }) => /\/rules(ets)?(\/|$)/.test(template), notFoundResponse, Infinity)
    github.fail(({ template }) => template === '/graphql', unknownFieldResponse, Infinity)
  })
  afterAll(() => environment.close())

  test('reports what it cannot read, and nothing fails', async () => {
    const { github } = environment.demo
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
      expect.stringMatching(
        /rulesets cannot be read.*this GitHub server does not support or expose this information/,
      ),
    ])
    expect(rules.checks.required.map(({ name }) => name).sort()).toEqual([...botCheckNames].sort())
  })

  test('an up-to-date pull request and one that is behind are merged as they were checked', async () => {
    const { demo } = environment
    const opened: DemoStoryWithPull[] = []
    for (const id of ['good update', 'first of two competing updates']) {
      const { story, pull } = await openDemoStory(demo, id)
      opened.push({ story: { ...story, ending: { kind: 'lands' } as const }, pull })
    }
    await environment.start()
    for (const each of opened)
      await environment.waitUntil(
        `${each.story.id} is merged`,
        () => evaluateDemoStory(each, opened, demo).isMerged,
      )
    for (const { pull } of opened) {
      const { path } = pull.repo
      const [base = '', head = ''] = (
        await runGit(path, undefined, 'log', '-1', '--format=%P', pull.merged?.sha ?? '')
      ).split(' ')
      expect(head).toBe(pull.headSha)
      expect(await runGit(path, undefined, 'rev-parse', `${pull.merged?.sha ?? ''}^{tree}`)).toBe(
        (await runGit(path, undefined, 'merge-tree', '--write-tree', base, head)).split('\n')[0],
      )
    }
  })
})
