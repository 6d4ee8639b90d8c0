// The rules of a branch, as our sandbox returns them; its responses are validated against GitHub's OpenAPI document.
// Responses that only other servers give are in edge.test.ts.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { readBranchRules } from '../../../src/adapters/github/read-branch-rules.ts'
import type { BranchRules } from '../../../src/policy/branch-rules.ts'
import {
  createStatusChecksRule,
  createPullRequestRule,
  createMergeQueueRule,
} from '../../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { unrestrictedBranchRules } from '../../policy/no-rules.ts'
import { startGitHubFixture } from '../../sandbox/github/github-fixture.ts'

const fixture = await startGitHubFixture({ validateTraffic: true })
const { github, installation, octokit } = fixture
afterAll(async () => fixture.stop())
afterEach(() => {
  expect(github.violations.splice(0)).toEqual([])
})

interface RepositoryWithBranchRules {
  readonly full: string
  readonly name: { readonly owner: string; readonly repo: string }
}

let createdRepositoryCount = 0
/** A new repository on which the App is installed. */
async function createRepositoryWithRules(): Promise<RepositoryWithBranchRules> {
  const repo = `ruled-${(createdRepositoryCount += 1)}`
  const full = `catalogs/${repo}`
  await github.createRepository('catalogs', repo)
  github.changeInstallation(installation, [full])
  return { full, name: { owner: 'catalogs', repo } }
}

const readRules = (
  it: Pick<RepositoryWithBranchRules, 'name'>,
  octokit = fixture.octokit,
  isApp = true,
): Promise<BranchRules> =>
  readBranchRules(octokit, { owner: it.name.owner, name: it.name.repo }, 'main', {
    app: fixture.app.id,
    isApp,
  })

const createAppBypassRuleset = (bypass_mode: 'always' | 'exempt' | 'pull_request') => ({
  bypass_actors: [{ actor_type: 'Integration', actor_id: fixture.app.id, bypass_mode } as const],
})

test('a branch without rules requires nothing', async () => {
  expect(await readRules(await createRepositoryWithRules())).toEqual(unrestrictedBranchRules)
})

describe('rulesets', () => {
  test('of many kinds are combined, and the strictest setting applies', async () => {
    const it = await createRepositoryWithRules()
    github.addRules(it.full, [
      { type: 'deletion' },
      { type: 'non_fast_forward' },
      { type: 'required_linear_history' },
    ])
    github.addRules(it.full, [
      createStatusChecksRule([{ context: 'ci' }, { context: 'own', integration_id: 7 }]),
      createPullRequestRule({ require_code_owner_review: true, allowed_merge_methods: ['merge', 'squash'] }),
    ])
    github.addRules(it.full, [
      createStatusChecksRule([{ context: 'ci' }], { strict_required_status_checks_policy: true }),
      createPullRequestRule({ required_approving_review_count: 2, dismiss_stale_reviews_on_push: true }),
      { type: 'required_signatures' },
    ])
    github.allowMergeMethods(it.full, { merge: false })
    expect(await readRules(it)).toEqual({
      ...unrestrictedBranchRules,
      checks: { required: [{ name: 'ci' }, { name: 'own', app: 7 }], strict: true },
      pullRequest: {
        approvals: 2,
        dismissesStale: true,
        lastPushApproval: false,
        codeOwners: true,
        conversations: false,
      },
      linearHistory: true,
      signatures: true,
      mergeMethods: ['squash'],
    })
  })

  test('with a queue, workflows, and unrecognized rules are read', async () => {
    const it = await createRepositoryWithRules()
    github.addRules(it.full, [
      createMergeQueueRule({ merge_method: 'SQUASH', max_entries_to_merge: 3 }),
      {
        type: 'workflows',
        parameters: { workflows: [{ path: '.github/workflows/x.yml', repository_id: 1 }] },
      },
      { type: 'required_deployments', parameters: { required_deployment_environments: ['stage'] } },
      {
        type: 'code_scanning',
        parameters: {
          code_scanning_tools: [
            { tool: 'x', alerts_threshold: 'errors', security_alerts_threshold: 'high_or_higher' },
          ],
        },
      },
    ])
    expect(await readRules(it)).toEqual({
      ...unrestrictedBranchRules,
      mergeQueue: true,
      queue: { method: 'squash', largestGroup: 3 },
      workflows: true,
      others: ['code_scanning', 'required_deployments'],
    })
  })

  test.each([
    ['always', { reservedForUs: true }],
    ['exempt', { reservedForUs: true }],
    ['pull_request', { reservedForUs: true, closedToPushes: true, linearHistory: true }],
    [undefined, { closedToUs: true, linearHistory: true }],
  ] as const)('with bypass mode %s for our App apply to it accordingly', async (mode, says) => {
    const it = await createRepositoryWithRules()
    const rules = [{ type: 'update' }, { type: 'required_linear_history' }]
    github.addRules(it.full, rules, mode === undefined ? {} : createAppBypassRuleset(mode))
    expect(await readRules(it)).toEqual({ ...unrestrictedBranchRules, ...says })
  })

  test('with a bypass for another App apply to our App', async () => {
    const it = await createRepositoryWithRules()
    const bypass_actors = [{ actor_type: 'Integration', actor_id: 4711, bypass_mode: 'always' } as const]
    github.addRules(it.full, [{ type: 'update' }], { bypass_actors })
    expect(await readRules(it)).toEqual({ ...unrestrictedBranchRules, closedToUs: true })
  })

  test('close the branch to our App if only one of two has a bypass for it', async () => {
    const it = await createRepositoryWithRules()
    github.addRules(it.full, [{ type: 'update' }], createAppBypassRuleset('always'))
    github.addRules(it.full, [{ type: 'update' }])
    expect(await readRules(it)).toEqual({ ...unrestrictedBranchRules, closedToUs: true })
  })

  test('for all branches block the temporary branch, unless they exclude it or have a bypass', async () => {
    const it = await createRepositoryWithRules()
    const everywhere = { conditions: { ref_name: { include: ['~ALL'] } } }
    const ruleset = github.addRules(
      it.full,
      [{ type: 'deletion' }, { type: 'creation' }, createStatusChecksRule([{ context: 'ci' }])],
      everywhere,
    )
    expect(await readRules(it)).toMatchObject({
      temporaryBranch: ['creation', 'deletion', 'required_status_checks'],
    })
    github.removeRuleset(it.full, ruleset)
    github.addRules(
      it.full,
      [createStatusChecksRule([{ context: 'ci' }], { do_not_enforce_on_create: true })],
      everywhere,
    )
    github.addRules(it.full, [{ type: 'creation' }], { ...everywhere, ...createAppBypassRuleset('always') })
    github.addRules(it.full, [{ type: 'deletion' }], {
      conditions: { ref_name: { include: ['~ALL'], exclude: ['refs/heads/catalog-bot/tmp-*'] } },
    })
    expect(await readRules(it)).toMatchObject({ temporaryBranch: [] })
  })

  test('are read to the last page', async () => {
    const it = await createRepositoryWithRules()
    for (let count = 0; count < 101; count++)
      github.addRules(it.full, [createStatusChecksRule([{ context: `ci ${count}` }])])
    expect((await readRules(it)).checks.required).toHaveLength(101)
  })
})

describe('classic protection', () => {
  const all = {
    required_status_checks: {
      strict: true,
      checks: [
        { context: 'ci', app_id: -1 },
        { context: 'own', app_id: 7 },
      ],
    },
    enforce_admins: false,
    required_pull_request_reviews: {
      required_approving_review_count: 1,
      require_last_push_approval: true,
      require_code_owner_reviews: true,
    },
    restrictions: { users: [], teams: [], apps: [] as string[] },
    required_linear_history: true,
    required_signatures: true,
    required_conversation_resolution: true,
    lock_branch: true,
  }
  const required = [{ name: 'ci' }, { name: 'own', app: 7 }]

  const asAdministrator = async (it: RepositoryWithBranchRules): Promise<BranchRules> => {
    const before = installation.permissions
    github.setPermissions(installation, { ...before, administration: 'read' })
    try {
      return await readRules(it, fixture.client(await fixture.token()))
    } finally {
      github.setPermissions(installation, before)
    }
  }

  test('is read completely with the permission for it', async () => {
    const it = await createRepositoryWithRules()
    github.protect(it.full, 'main', all)
    expect(await asAdministrator(it)).toEqual({
      ...unrestrictedBranchRules,
      checks: { required, strict: true },
      pullRequest: {
        approvals: 1,
        dismissesStale: false,
        lastPushApproval: true,
        codeOwners: true,
        conversations: true,
      },
      closedToUs: true,
      linearHistory: true,
      signatures: true,
      locked: true,
    })
  })

  test('is read as far as it is public without that permission, and the gap is reported', async () => {
    const it = await createRepositoryWithRules()
    github.protect(it.full, 'main', all)
    expect(await readRules(it)).toEqual({
      ...unrestrictedBranchRules,
      checks: { required, strict: false },
      pullRequest: {
        approvals: 1,
        dismissesStale: false,
        lastPushApproval: false,
        codeOwners: true,
        conversations: true,
      },
      closedToUs: true,
      linearHistory: true,
      signatures: true,
      unread: [expect.stringContaining('administration: read')],
    })
  })

  test('is open to our App if it lists the App, and requires no reviews with an allowance', async () => {
    const it = await createRepositoryWithRules()
    const apps = { users: [], teams: [], apps: ['catalog-bot'] }
    github.protect(it.full, 'main', {
      enforce_admins: true,
      restrictions: apps,
      required_pull_request_reviews: { bypass_pull_request_allowances: apps },
    })
    expect(await asAdministrator(it)).toEqual({ ...unrestrictedBranchRules, reservedForUs: true })
  })

  test('does not close a branch that a ruleset opens for pull requests', async () => {
    const it = await createRepositoryWithRules()
    github.addRules(it.full, [{ type: 'update' }], createAppBypassRuleset('pull_request'))
    github.protect(it.full, 'main', { required_linear_history: true, enforce_admins: true })
    expect(await readRules(it)).toMatchObject({
      closedToUs: false,
      closedToPushes: true,
      linearHistory: true,
    })
  })

  test('that does not exist leaves nothing unread', async () => {
    const it = await createRepositoryWithRules()
    github.addRules(it.full, [{ type: 'deletion' }])
    expect((await readRules(it)).unread).toEqual([])
  })
})

test('a maintainer reads the rules that apply to the App, and an outsider gets the gaps', async () => {
  const it = await createRepositoryWithRules()
  github.addRules(it.full, [{ type: 'update' }], createAppBypassRuleset('always'))
  const token = github.tokenFor('maintainer')
  expect(await readRules(it, fixture.client(token), false)).toMatchObject({ reservedForUs: true, unread: [] })
  const outsiderRules = await readRules(it, fixture.client(github.tokenFor('outsider')), false)
  expect(outsiderRules.closedToUs).toBe(true)
  expect(outsiderRules.unread.join()).toMatch(
    /GitHub does not report the App's bypass permission for ruleset \d+/,
  )
  expect(outsiderRules.unread.join()).toContain('which merge methods the repository allows')
})

test("a user's repository is recognized", async () => {
  github.createUser('holder')
  await github.createRepository('holder', 'mine', { files: { 'a.txt': 'a' } })
  const client = fixture.client(github.tokenFor('holder'))
  expect(await readRules({ name: { owner: 'holder', repo: 'mine' } }, client, false)).toMatchObject({
    owner: 'user',
  })
})

test('a missing branch is an error', async () => {
  const it = await createRepositoryWithRules()
  const missingRepositoryRules = readBranchRules(
    octokit,
    { owner: it.name.owner, name: it.name.repo },
    'gone',
    { app: 1, isApp: true },
  )
  await expect(missingRepositoryRules).rejects.toMatchObject({ code: 'not-found' })
})
